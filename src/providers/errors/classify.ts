/** Maps an error that a provider reported to one of our error codes. */

import type { ErrorCode } from '../../core/error.ts'
import type { Reported } from './reported.ts'

export type Kind = { readonly code: ErrorCode; readonly retryable?: boolean }

/** Error codes and types of providers, in lower case. */
const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  context_length: 'context_length_exceeded string_above_max_length exceed_context_size_error model_context_window_exceeded',
  quota: `insufficient_quota billing_hard_limit_reached billing_not_active billing_error insufficient_balance usage_limit_reached
    usage_limit_exceeded insufficient_credits payment_required quota_exceeded exceeded_current_quota_error access_terminated`,
  auth: `invalid_api_key incorrect_api_key_provided authentication_error invalid_authentication_error permission_error api_key_invalid
    api_key_service_blocked unauthenticated permission_denied consumer_suspended unauthorized account_deactivated
    unsupported_country_region_territory`,
  policy: 'content_filter content_policy_violation responsibleaipolicyviolation moderation_blocked data_inspection_failed',
  model_unavailable: `model_not_found deploymentnotfound not_found_error model_not_available model_not_supported model_decommissioned
    model_deprecated unsupported_model`,
  overloaded: `overloaded_error overloaded model_overloaded server_overloaded engine_overloaded_error unavailable server_error api_error
    internal_error internal_server_error internal service_unavailable bad_gateway upstream_error provider_error vector_store_timeout`,
  rate_limited: `rate_limit_exceeded rate_limit_error rate_limit_reached_error rate_limited too_many_requests slow_down requests tokens
    resource_exhausted throttlingexception`,
  timeout: 'timeout timeout_error request_timeout deadline_exceeded gateway_timeout',
}

/** Error messages of providers; those for a full context window are in `WORDINGS` below. */
const WORDS: Readonly<Partial<Record<ErrorCode, readonly RegExp[]>>> = {
  quota: [
    /insufficient (?:quota|balance|credits?|funds)|out of credits|(?:purchase|add) (?:more )?credits|credit balance is too low/i,
    /exceeded your current quota|billing|payment required|spend(?:ing)? limit/i,
    /(?:daily|weekly|monthly) (?:usage |request |token )?(?:limit|quota)|quota[^.]{0,40}(?:per|a) (?:day|month)/i,
    /(?:resets?|try again|retry|available(?: again)?) (?:in|after) \d+ ?(?:d\b|days?)|regain access on/i,
    /(?:requests?|tokens|models)[ -]per[ -]day|key limit exceeded/i,
    /balance is (?:too low|insufficient|not enough)|credits? (?:are|is|have been) (?:depleted|exhausted|used up)/i,
  ],
  auth: [
    /api key (?:not valid|is invalid|not found|expired|is missing)|incorrect api key|invalid (?:api|subscription|authentication)[ _]?(?:key|token)/i,
    /no auth credentials|missing authentication|authentication (?:fails|failed)|unauthorized/i,
  ],
  policy: [
    /content (?:management )?policy|content filter|safety (?:system|policy|filter)|responsible ai|data policy/i,
    /flagged (?:as|for|by)|violat\w+ (?:our|the|usage) [\w ]{0,30}polic|prohibited content|inappropriate content/i,
    /blocked by (?:our )?(?:moderation|safety)/i,
  ],
  model_unavailable: [
    /model[^.]{0,80}(?:(?:does )?not exist|not found|is not (?:available|supported)|no longer|has been (?:deprecated|decommissioned|retired|removed))/i,
    /(?:no such|unknown|invalid) model|not a valid model|deployment[^.]{0,80}does not exist|try pulling it|no endpoints found/i,
  ],
  overloaded: [
    /overloaded|over capacity|at capacity|temporarily unavailable|service unavailable|server is busy|high demand|try again later/i,
  ],
  rate_limited: [
    /rate.?limit|too many requests|(?:tokens|requests) per (?:minute|min|second|hour)|throttl|too many tokens, please wait/i,
  ],
}

/** Errors that are not retried, even if a header says to retry: a retry does not fix a used-up quota, a wrong key or a full window. */
const FINAL = new Set<ErrorCode>(['quota', 'auth', 'context_length'])

export function classify(reported: Reported): Kind {
  const kind = bySubstance(reported)
  return reported.shouldRetry === undefined || FINAL.has(kind.code) ? kind : { ...kind, retryable: reported.shouldRetry }
}

const BY_STATUS: Readonly<Record<number, Kind>> = {
  405: { code: 'invalid_response', retryable: false },
  408: { code: 'timeout' },
  409: { code: 'overloaded' },
  425: { code: 'overloaded' },
  501: { code: 'overloaded', retryable: false },
  504: { code: 'timeout' },
  505: { code: 'overloaded', retryable: false },
  524: { code: 'timeout' },
}

function bySubstance(reported: Reported): Kind {
  const { status, message, foreign } = reported
  const given = new Set(reported.codes.map((code) => code.toLowerCase()))
  const coded = (code: ErrorCode): boolean => CODES[code]?.split(/\s+/).some((theirs) => given.has(theirs)) === true
  const says = (code: ErrorCode): boolean => WORDS[code]?.some((words) => words.test(message)) === true
  // Errors inside a stream have no status. The messages of status 5xx are not reliable.
  const mayBeOurs = status === undefined || (status >= 400 && status < 500)
  const isRate = status === 429

  if (coded('context_length') || (mayBeOurs && isOverflow(message, status))) return { code: 'context_length' }
  if (coded('quota') || status === 402 || (mayBeOurs && says('quota') && !isRateInDisguise(reported))) return { code: 'quota' }
  if (status === 401 || coded('auth')) return { code: 'auth' }
  if (coded('policy') || (mayBeOurs && says('policy'))) return { code: 'policy' }
  if (coded('model_unavailable')) return { code: 'model_unavailable' }
  if (status === 403 || (mayBeOurs && !isRate && says('auth'))) return { code: 'auth' }
  if (status === 410 || (mayBeOurs && !isRate && says('model_unavailable'))) return { code: 'model_unavailable' }
  if (status === 404) return foreign ? { code: 'invalid_response', retryable: false } : { code: 'model_unavailable' }
  if (isRate || status === 498) return { code: says('overloaded') && !says('rate_limited') ? 'overloaded' : 'rate_limited' }
  if (status !== undefined && status >= 500) return BY_STATUS[status] ?? { code: 'overloaded' }
  if (status !== undefined)
    return BY_STATUS[status] ?? { code: coded('rate_limited') || says('rate_limited') ? 'rate_limited' : 'invalid_request' }
  const transient =
    (['rate_limited', 'timeout', 'overloaded'] as const).find(coded) ?? (['rate_limited', 'overloaded'] as const).find(says)
  if (transient !== undefined) return { code: transient }
  const isInvalid = [...given].some((code) => /^invalid_|_failed$|bad_request|failed_precondition|out_of_range/.test(code))
  return { code: isInvalid ? 'invalid_request' : 'overloaded' }
}

/** A longer wait, in milliseconds, means that a quota is used up rather than a rate limit. */
const LONG_WAIT = 15 * 60_000

/**
 * Returns whether a quota error is a rate limit: Google also writes “exceeded your current quota” for a limit per minute.
 */
function isRateInDisguise({ quotas, retryAfterMs }: Reported): boolean {
  if (quotas.length > 0)
    return quotas.some((quota) => /per(?:minute|hour|second)/i.test(quota)) && !quotas.some((quota) => /perday/i.test(quota))
  return retryAfterMs !== undefined && retryAfterMs <= LONG_WAIT
}

const WORDINGS: readonly RegExp[] = [
  // Anthropic
  /input length and `?max_tokens`? exceed context limit/i,
  // OpenAI and servers that copy its words: vLLM, DeepSeek, Azure, OpenRouter, Together, Mistral
  /context[ _]length[ _]exceeded|maximum context length|input tokens exceed the configured limit/i,
  /exceeds? (?:the|this|its|your) (?:model'?s? )?(?:maximum )?context (?:window|length|size)/i,
  /string too long\. expected a string with maximum length|context length is only \d|longer than the maximum model length/i,
  // Hugging Face's server
  /`?inputs`? (?:tokens \+ `?max_new_tokens`? must be <=|must have less than \d+ tokens)/i,
  // Google; Amazon Bedrock; xAI
  /input token count .{0,40}exceeds the maximum|expected maxLength: \d+|maximum prompt length is \d+/i,
  // Groq
  /reduce the length of the (?:messages|prompt|input)|request too large for model|please reduce your message size/i,
  // llama.cpp, Ollama, LM Studio
  /exceed_context_size|exceeds the available context size|exceeded (?:max )?context length|when context (?:the )?overflows/i,
  /(?:greater|longer|larger) than the (?:model'?s )?context (?:length|window|size)/i,
  /context (?:window|size|length) (?:has been |is |was )?(?:exceeded|exceeds|full)/i,
  /exceed(?:s|ed)? (?:the )?(?:model'?s )?context (?:window|limit|size|length)/i,
  // Alibaba
  /range of input length should be|input length \d+ exceeds/i,
  // Moonshot, MiniMax, Zhipu, watsonx, NVIDIA, Cohere and others
  /exceeded model token limit|context window exceeds limit|too many tokens:|model_context_window_exceeded/i,
  /number of input tokens .{0,60}(?:exceed|limit)|total (?:number of )?tokens .{0,60}exceed/i,
  /token limit exceeded|exceeds? the (?:maximum )?(?:number of )?(?:input )?tokens? (?:limit|allowed)/i,
  /(?:prompt|input tokens)(?: \([^)]{1,20}\))? exceeds? the (?:maximum number of tokens|model limit)/i,
  /tokens in request more than max tokens allowed|(?:prompt|input) (?:is |was )?(?:too long|too large)/i,
]

/** Similar messages that are about a rate limit. */
const ABOUT_RATE = /per[ -](?:minute|min|day|hour|second)|\b[TR]P[MD]\b|throttl|rate.?limit|please wait/i

/** Returns whether a message reports a full context window. @param status 413 never means a rate limit. */
export function isOverflow(message: string, status?: number): boolean {
  return (status === 413 || !ABOUT_RATE.test(message)) && WORDINGS.some((wording) => wording.test(message))
}
