/** Reads token counts as providers report them; a count that was not sent is `null`, never 0. */

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { asObject } from '../wire/json.ts'

export type ReadUsage = (raw: JsonObject) => Usage

type Count = Exclude<keyof Usage, 'exactness' | 'cacheWrite1hTokens'>
/**
 * Where a report has each count: places that are tried in turn, separated by spaces; members within members by dots. At a place that ends in `?` a 0
 * says nothing: some gateways fill it with 0 whatever the model does.
 */
type Places = Readonly<Partial<Record<Count, string>>>

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

/** Here the input tokens do not include the cached ones. */
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

/** Protocol buffers leave out a count of 0, so an answer without candidates cost no output. */
export const readGeminiUsage: ReadUsage = reader(GEMINI, (counts) => ({
  ...counts,
  outputTokens: (counts.outputTokens ?? 0) + (counts.reasoningTokens ?? 0),
}))

/** Each API by the members that its reports alone have. */
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

/** Reads the report of an AI SDK model, of version 4 or 3 (nested) or 2 (flat); the provider's own report in `raw` wins, since packages turn unknown into 0. */
export const readSdkUsage: ReadUsage = (usage) => {
  const raw = asObject(usage['raw'])
  const own = raw && READERS.find(([members]) => members.some((name) => name in raw))
  return raw !== undefined && own !== undefined ? own[1](raw) : readCounts(usage)
}

type Counts = Omit<Usage, 'exactness'>

/** @param correct changes the counts as they stand in the report. */
function reader(places: Places, correct: (counts: Counts, raw: JsonObject) => Counts = (counts) => counts): ReadUsage {
  return (raw) => {
    const counts = correct(
      {
        inputTokens: countAt(raw, places.inputTokens),
        outputTokens: countAt(raw, places.outputTokens),
        totalTokens: countAt(raw, places.totalTokens),
        cacheReadTokens: countAt(raw, places.cacheReadTokens),
        cacheWriteTokens: countAt(raw, places.cacheWriteTokens),
        reasoningTokens: countAt(raw, places.reasoningTokens),
      },
      raw,
    )
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
