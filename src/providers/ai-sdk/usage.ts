/**
 * Tokens as the provider reported them. The packages turn a number that was not sent into 0, so the provider's own report is read; what
 * nobody reported is `null`.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { asObject } from '../wire/dialect.ts'

type Numbers = Omit<Usage, 'exactness'>
const NOTHING: Numbers = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
}

/** @param raw the provider's own report, of any API we know; anything else gives `undefined`. */
export function usageOf(raw: JsonObject | undefined): Usage | undefined {
  if (raw === undefined) return undefined
  const numbers = READERS.find((reader) => reader.reads.some((name) => name in raw))?.read(raw)
  return numbers === undefined ? undefined : rated(numbers)
}

/** What an AI SDK model makes of it, of version 4 or 3 (nested) or 2 (flat); for models of whose provider nothing is known. */
export function usageOfSdk(usage: unknown): Usage {
  const report = asObject(usage)
  if (report === undefined) return UNKNOWN_USAGE
  const raw = usageOf(asObject(report['raw']))
  if (raw !== undefined) return raw
  const input = asObject(report['inputTokens'])
  const output = asObject(report['outputTokens'])
  return rated({
    ...NOTHING,
    inputTokens: count(input?.['total'] ?? report['inputTokens']),
    outputTokens: count(output?.['total'] ?? report['outputTokens']),
    totalTokens: count(report['totalTokens']),
    cacheReadTokens: count(input?.['cacheRead'] ?? report['cachedInputTokens']),
    cacheWriteTokens: count(input?.['cacheWrite']),
    reasoningTokens: count(output?.['reasoning'] ?? report['reasoningTokens']),
  })
}

function rated(numbers: Numbers): Usage {
  const known = numbers.inputTokens !== null && numbers.outputTokens !== null
  return { ...numbers, exactness: known ? 'exact' : 'unknown' }
}

interface Reader {
  /** Members by which a report of this API is recognised. */
  readonly reads: readonly string[]
  readonly read: (raw: JsonObject) => Numbers
}

const READERS: readonly Reader[] = [
  { reads: ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'trafficType'], read: readGemini },
  { reads: ['prompt_tokens', 'completion_tokens'], read: readChat },
  { reads: ['cache_creation_input_tokens', 'cache_read_input_tokens'], read: readMessages },
  { reads: ['input_tokens_details', 'output_tokens_details', 'total_tokens'], read: readResponses },
  { reads: ['input_tokens', 'output_tokens'], read: readMessages },
]

function readChat(raw: JsonObject): Numbers {
  const input = asObject(raw['prompt_tokens_details'])
  const output = asObject(raw['completion_tokens_details'])
  return {
    inputTokens: count(raw['prompt_tokens']),
    outputTokens: count(raw['completion_tokens']),
    totalTokens: count(raw['total_tokens']),
    cacheReadTokens: count(input?.['cached_tokens']) ?? beside(raw['cached_tokens']) ?? beside(raw['prompt_cache_hit_tokens']),
    cacheWriteTokens: count(input?.['cache_write_tokens'] ?? input?.['cache_creation_tokens']),
    reasoningTokens: count(output?.['reasoning_tokens']) ?? beside(raw['reasoning_tokens']),
  }
}

function readResponses(raw: JsonObject): Numbers {
  const input = asObject(raw['input_tokens_details'])
  const output = asObject(raw['output_tokens_details'])
  return {
    inputTokens: count(raw['input_tokens']),
    outputTokens: count(raw['output_tokens']),
    totalTokens: count(raw['total_tokens']),
    cacheReadTokens: count(input?.['cached_tokens']),
    cacheWriteTokens: count(input?.['cache_write_tokens']),
    reasoningTokens: count(output?.['reasoning_tokens']),
  }
}

/** Here the input tokens do not include the cached ones. */
function readMessages(raw: JsonObject): Numbers {
  const fresh = count(raw['input_tokens'])
  const cacheRead = count(raw['cache_read_input_tokens'])
  const cacheWrite = count(raw['cache_creation_input_tokens'])
  const anHour = count(asObject(raw['cache_creation'])?.['ephemeral_1h_input_tokens']) ?? 0
  return {
    ...NOTHING,
    inputTokens: fresh === null ? null : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
    outputTokens: count(raw['output_tokens']),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    ...(anHour === 0 ? {} : { cacheWrite1hTokens: anHour }),
    reasoningTokens: count(asObject(raw['output_tokens_details'])?.['thinking_tokens']),
  }
}

/** Protocol buffers leave out a count of 0, so an answer without candidates cost no output. */
function readGemini(raw: JsonObject): Numbers {
  return {
    ...NOTHING,
    inputTokens: count(raw['promptTokenCount']),
    outputTokens: (count(raw['candidatesTokenCount']) ?? 0) + (count(raw['thoughtsTokenCount']) ?? 0),
    totalTokens: count(raw['totalTokenCount']),
    cacheReadTokens: count(raw['cachedContentTokenCount']),
    reasoningTokens: count(raw['thoughtsTokenCount']),
  }
}

/** Counts that stand beside the usual place: some gateways fill them with 0 whatever the model does, so 0 says nothing. */
function beside(value: unknown): number | null {
  const counted = count(value)
  return counted === 0 ? null : counted
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
