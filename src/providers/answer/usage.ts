/** Reads token counts as providers report them; a count that was not sent is `null`, never 0. */

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { asObject } from '../wire/json.ts'

type Numbers = Omit<Usage, 'exactness'>
export type ReadUsage = (raw: JsonObject) => Usage

const NOTHING: Numbers = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
}

export const readChatUsage: ReadUsage = (raw) => {
  const input = asObject(raw['prompt_tokens_details'])
  const output = asObject(raw['completion_tokens_details'])
  return rated({
    inputTokens: count(raw['prompt_tokens']),
    outputTokens: count(raw['completion_tokens']),
    totalTokens: count(raw['total_tokens']),
    cacheReadTokens: count(input?.['cached_tokens']) ?? beside(raw['cached_tokens']) ?? beside(raw['prompt_cache_hit_tokens']),
    cacheWriteTokens: count(input?.['cache_write_tokens'] ?? input?.['cache_creation_tokens']),
    reasoningTokens: count(output?.['reasoning_tokens']) ?? beside(raw['reasoning_tokens']),
  })
}

export const readResponsesUsage: ReadUsage = (raw) => {
  const input = asObject(raw['input_tokens_details'])
  const output = asObject(raw['output_tokens_details'])
  return rated({
    inputTokens: count(raw['input_tokens']),
    outputTokens: count(raw['output_tokens']),
    totalTokens: count(raw['total_tokens']),
    cacheReadTokens: count(input?.['cached_tokens']),
    cacheWriteTokens: count(input?.['cache_write_tokens']),
    reasoningTokens: count(output?.['reasoning_tokens']),
  })
}

/** Here the input tokens do not include the cached ones. */
export const readMessagesUsage: ReadUsage = (raw) => {
  const fresh = count(raw['input_tokens'])
  const cacheRead = count(raw['cache_read_input_tokens'])
  const cacheWrite = count(raw['cache_creation_input_tokens'])
  const anHour = count(asObject(raw['cache_creation'])?.['ephemeral_1h_input_tokens']) ?? 0
  return rated({
    ...NOTHING,
    inputTokens: fresh === null ? null : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
    outputTokens: count(raw['output_tokens']),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    ...(anHour === 0 ? {} : { cacheWrite1hTokens: anHour }),
    reasoningTokens: count(asObject(raw['output_tokens_details'])?.['thinking_tokens']),
  })
}

/** Protocol buffers leave out a count of 0, so an answer without candidates cost no output. */
export const readGeminiUsage: ReadUsage = (raw) =>
  rated({
    ...NOTHING,
    inputTokens: count(raw['promptTokenCount']),
    outputTokens: (count(raw['candidatesTokenCount']) ?? 0) + (count(raw['thoughtsTokenCount']) ?? 0),
    totalTokens: count(raw['totalTokenCount']),
    cacheReadTokens: count(raw['cachedContentTokenCount']),
    reasoningTokens: count(raw['thoughtsTokenCount']),
  })

/** Each API by the members that its reports alone have. */
const READERS: readonly (readonly [members: readonly string[], read: ReadUsage])[] = [
  [['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'trafficType'], readGeminiUsage],
  [['prompt_tokens', 'completion_tokens'], readChatUsage],
  [['cache_creation_input_tokens', 'cache_read_input_tokens'], readMessagesUsage],
  [['input_tokens_details', 'output_tokens_details', 'total_tokens'], readResponsesUsage],
  [['input_tokens', 'output_tokens'], readMessagesUsage],
]

/** What an AI SDK model reports, of version 4 or 3 (nested) or 2 (flat); the provider's own report in `raw` wins, since packages turn unknown into 0. */
export const readSdkUsage: ReadUsage = (usage) => {
  const raw = asObject(usage['raw'])
  const own = raw === undefined ? undefined : READERS.find(([members]) => members.some((name) => name in raw))
  if (raw !== undefined && own !== undefined) return own[1](raw)
  const input = asObject(usage['inputTokens'])
  const output = asObject(usage['outputTokens'])
  return rated({
    inputTokens: count(input?.['total'] ?? usage['inputTokens']),
    outputTokens: count(output?.['total'] ?? usage['outputTokens']),
    totalTokens: count(usage['totalTokens']),
    cacheReadTokens: count(input?.['cacheRead'] ?? usage['cachedInputTokens']),
    cacheWriteTokens: count(input?.['cacheWrite']),
    reasoningTokens: count(output?.['reasoning'] ?? usage['reasoningTokens']),
  })
}

function rated(numbers: Numbers): Usage {
  const isKnown = numbers.inputTokens !== null && numbers.outputTokens !== null
  return { ...numbers, exactness: isKnown ? 'exact' : 'unknown' }
}

/** Counts that stand beside the usual place: some gateways fill them with 0 whatever the model does, so 0 says nothing. */
function beside(value: unknown): number | null {
  const counted = count(value)
  return counted === 0 ? null : counted
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
