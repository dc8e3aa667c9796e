/** Tokens of a model call. A number that was not reported is `null`, never 0. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number | null
  /** All output tokens, reasoning included. */
  readonly outputTokens: number | null
  /** As reported; otherwise the sum of input and output tokens, if both are known. */
  readonly totalTokens: number | null
  /** Input tokens read from the provider's cache; `null`: unknown. */
  readonly cacheReadTokens: number | null
  /** Input tokens written to the provider's cache; `null`: unknown. */
  readonly cacheWriteTokens: number | null
  /** The part of `cacheWriteTokens` cached for an hour, which costs more; absent if there are none. */
  readonly cacheWrite1hTokens?: number
  /** Output tokens of thinking; `null`: unknown. */
  readonly reasoningTokens: number | null
  /** `exact`: reported by the provider; `estimated`: estimated here, in part or whole; `unknown`: neither. */
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

/** Usage without any model call. */
export const ZERO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  exactness: 'exact',
}

/** Adds the total if the provider did not report it. */
export function withTotal(usage: Usage): Usage {
  const { inputTokens, outputTokens, totalTokens } = usage
  if (totalTokens !== null || inputTokens === null || outputTokens === null) return usage
  return { ...usage, totalTokens: inputTokens + outputTokens }
}

const RANK = { exact: 0, estimated: 1, unknown: 2 } as const

/** Adds the usage of two calls. A number that is unknown in one is unknown in the sum, which must not look smaller than it is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const anHour = (a.cacheWrite1hTokens ?? 0) + (b.cacheWrite1hTokens ?? 0)
  return {
    inputTokens: plus(a.inputTokens, b.inputTokens),
    outputTokens: plus(a.outputTokens, b.outputTokens),
    totalTokens: plus(a.totalTokens, b.totalTokens),
    cacheReadTokens: plus(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: plus(a.cacheWriteTokens, b.cacheWriteTokens),
    ...(anHour === 0 ? {} : { cacheWrite1hTokens: anHour }),
    reasoningTokens: plus(a.reasoningTokens, b.reasoningTokens),
    exactness: RANK[a.exactness] >= RANK[b.exactness] ? a.exactness : b.exactness,
  }
}

/** Adds two numbers; the sum with an unknown number is unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
