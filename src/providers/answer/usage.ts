/** Reads token counts as providers report them; a count that was not sent is `null`, never 0. */

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { asObject } from '../wire/json.ts'

export type ReadUsage = (raw: JsonObject) => Usage

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof Usage)[]
/**
 * Paths of each count in a usage report, tried in order and separated by spaces; dots separate nested members. At a path that ends in `?`, 0 means
 * unknown: some gateways always send 0 there.
 */
type Places = Readonly<Partial<Record<(typeof COUNTS)[number], string>>>

export const readResponsesUsage: ReadUsage = reader({
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  totalTokens: 'total_tokens',
  cacheReadTokens: 'input_tokens_details.cached_tokens',
  cacheWriteTokens: 'input_tokens_details.cache_write_tokens',
  reasoningTokens: 'output_tokens_details.reasoning_tokens',
})

export const readChatUsage: ReadUsage = reader({
  inputTokens: 'prompt_tokens',
  outputTokens: 'completion_tokens',
  totalTokens: 'total_tokens',
  cacheReadTokens: 'prompt_tokens_details.cached_tokens cached_tokens? prompt_cache_hit_tokens?',
  cacheWriteTokens: 'prompt_tokens_details.cache_write_tokens prompt_tokens_details.cache_creation_tokens',
  reasoningTokens: 'completion_tokens_details.reasoning_tokens reasoning_tokens?',
})

const MESSAGES: Places = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_input_tokens',
  cacheWriteTokens: 'cache_creation_input_tokens',
  reasoningTokens: 'output_tokens_details.thinking_tokens',
}

/** Adds the cached tokens to the input tokens, which do not include them in this API. */
export const readMessagesUsage: ReadUsage = reader(MESSAGES, (counts, raw) => {
  const { inputTokens: fresh, cacheReadTokens, cacheWriteTokens } = counts
  const anHour = countAt(raw, 'cache_creation.ephemeral_1h_input_tokens') ?? 0
  return {
    ...counts,
    inputTokens: fresh === null ? null : fresh + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    ...(anHour === 0 ? {} : { cacheWrite1hTokens: anHour }),
  }
})

const GEMINI: Places = {
  inputTokens: 'promptTokenCount',
  outputTokens: 'candidatesTokenCount',
  totalTokens: 'totalTokenCount',
  cacheReadTokens: 'cachedContentTokenCount',
  reasoningTokens: 'thoughtsTokenCount',
}

/** Counts missing output tokens as 0, because protocol buffers omit a 0; adds the reasoning tokens, which are counted apart. */
export const readGeminiUsage: ReadUsage = reader(GEMINI, (counts) => ({
  ...counts,
  outputTokens: (counts.outputTokens ?? 0) + (counts.reasoningTokens ?? 0),
}))

/** Recognises the API of a usage report by members that only its reports have. */
const READERS: readonly (readonly [members: readonly string[], read: ReadUsage])[] = [
  [['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'trafficType'], readGeminiUsage],
  [['prompt_tokens', 'completion_tokens'], readChatUsage],
  [['cache_creation_input_tokens', 'cache_read_input_tokens'], readMessagesUsage],
  [['input_tokens_details', 'output_tokens_details', 'total_tokens'], readResponsesUsage],
  [['input_tokens', 'output_tokens'], readMessagesUsage],
]

const readCounts: ReadUsage = reader({
  inputTokens: 'inputTokens.total inputTokens',
  outputTokens: 'outputTokens.total outputTokens',
  totalTokens: 'totalTokens',
  cacheReadTokens: 'inputTokens.cacheRead cachedInputTokens',
  cacheWriteTokens: 'inputTokens.cacheWrite',
  reasoningTokens: 'outputTokens.reasoning reasoningTokens',
})

/** Reads the usage of an AI SDK model (nested in versions 4 and 3, flat in 2). The provider's report in `raw` wins: packages turn unknown into 0. */
export const readSdkUsage: ReadUsage = (usage) => {
  const raw = asObject(usage['raw'])
  const own = raw && READERS.find(([members]) => members.some((name) => name in raw))
  return raw !== undefined && own !== undefined ? own[1](raw) : readCounts(usage)
}

type Counts = Omit<Usage, 'exactness'>

/** @param correct adjusts the counts that were read from the report. */
function reader(places: Places, correct: (counts: Counts, raw: JsonObject) => Counts = (counts) => counts): ReadUsage {
  return (raw) => {
    const read = Object.fromEntries(COUNTS.map((name) => [name, countAt(raw, places[name])])) as unknown as Counts
    const counts = correct(read, raw)
    return { ...counts, exactness: counts.inputTokens === null || counts.outputTokens === null ? 'unknown' : 'exact' }
  }
}

function countAt(raw: JsonObject, places: string | undefined): number | null {
  for (const place of places?.split(' ') ?? []) {
    const names = place.replace('?', '').split('.')
    const value = names.reduce<unknown>((within, name) => asObject(within)?.[name], raw)
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    if (isCount && !(value === 0 && place.endsWith('?'))) return value
  }
  return null
}
