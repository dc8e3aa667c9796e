/** Tokens of a model call. A number that was not reported is `null`, never 0. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number | null
  /** All output tokens, reasoning included. */
  readonly outputTokens: number | null
  /** As reported; where it was not, the sum of input and output tokens, if both are known. */
  readonly totalTokens: number | null
  /** Input tokens that were read from the provider's cache; `null`: not known. */
  readonly cacheReadTokens: number | null
  /** Input tokens that were written to the provider's cache; `null`: not known. */
  readonly cacheWriteTokens: number | null
  /** Those of the written ones that are kept for an hour, which costs more; absent where there are none. */
  readonly cacheWrite1hTokens?: number
  /** Output tokens of thinking; `null`: not known. */
  readonly reasoningTokens: number | null
  /** `exact`: the provider's numbers; `estimated`: ours, in part or whole; `unknown`: nobody's. */
  readonly exactness: 'exact' | 'estimated' | 'unknown'
}

export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  exactness: 'unknown',
}

/** Usage of something that cost nothing: no call was made. */
export const ZERO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  exactness: 'exact',
}

/** With the total that some providers leave to their readers. */
export function withTotal(usage: Usage): Usage {
  const { inputTokens, outputTokens, totalTokens } = usage
  if (totalTokens !== null || inputTokens === null || outputTokens === null) return usage
  return { ...usage, totalTokens: inputTokens + outputTokens }
}

const RANK = { exact: 0, estimated: 1, unknown: 2 } as const

/** Sum of two calls. What is unknown of one is unknown of both: a sum must not look smaller than it is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const anHour = (a.cacheWrite1hTokens ?? 0) + (b.cacheWrite1hTokens ?? 0)
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
    totalTokens: add(a.totalTokens, b.totalTokens),
    cacheReadTokens: add(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: add(a.cacheWriteTokens, b.cacheWriteTokens),
    ...(anHour === 0 ? {} : { cacheWrite1hTokens: anHour }),
    reasoningTokens: add(a.reasoningTokens, b.reasoningTokens),
    exactness: RANK[a.exactness] >= RANK[b.exactness] ? a.exactness : b.exactness,
  }
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
