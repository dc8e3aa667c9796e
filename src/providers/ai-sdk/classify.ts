/** Which of our error codes a provider's error is. A pure function over what it reported. */

import type { ErrorCode } from '../../core/error.ts'
import { isOverflow } from './overflow.ts'
import type { Reported } from './reported.ts'

export type Kind = { readonly code: ErrorCode; readonly retryable?: boolean }

const OVERFLOW =
  /^(context_length_exceeded|string_above_max_length|exceed_context_size_error|model_context_window_exceeded|context_window_exceeded)$/
const QUOTA =
  /^(insufficient_quota|billing_hard_limit_reached|billing_not_active|billing_error|insufficient_balance|insufficient_credits|payment_required|quota_exceeded|exceeded_current_quota_error|access_terminated)$/
const AUTH =
  /^(invalid_api_key|api_key_invalid|incorrect_api_key_provided|authentication_error|unauthenticated|unauthorized|permission_error|permission_denied|invalid_authentication_error|account_deactivated|unsupported_country_region_territory|api_key_service_blocked|consumer_suspended)$/
const POLICY =
  /^(content_filter|content_policy_violation|responsibleaipolicyviolation|moderation_blocked|data_inspection_failed|content_filter_error|sensitive)$/
const GONE =
  /^(model_not_found|deploymentnotfound|model_not_available|not_found_error|model_not_supported|model_decommissioned|unsupported_model|model_deprecated)$/
const BUSY =
  /^(overloaded_error|overloaded|server_overloaded|engine_overloaded_error|service_unavailable|unavailable|server_error|api_error|internal_error|internal_server_error|internal|model_overloaded|bad_gateway|upstream_error|provider_error|vector_store_timeout)$/
const RATE =
  /^(rate_limit_exceeded|rate_limit_error|rate_limited|too_many_requests|requests|tokens|resource_exhausted|rate_limit_reached_error|throttlingexception|slow_down)$/
const LATE = /^(timeout|timeout_error|request_timeout|deadline_exceeded|gateway_timeout)$/

const SAYS_QUOTA =
  /insufficient (?:quota|balance|credits?|funds)|exceeded your current quota|credit balance is too low|billing|payment required|out of credits|(?:daily|weekly|monthly) (?:usage |request |token )?(?:limit|quota)|spend(?:ing)? limit|purchase more credits|add (?:more )?credits|resets? in \d+ ?(?:d\b|days?)|quota[^.]{0,40}(?:per|a) (?:day|month)/i
const SAYS_AUTH =
  /api key (?:not valid|is invalid|not found|expired|is missing)|invalid (?:api|subscription|authentication)[ _]?(?:key|token)?|incorrect api key|no auth credentials|missing authentication|authentication (?:fails|failed)|unauthorized/i
const SAYS_POLICY =
  /content (?:management )?policy|content filter|safety (?:system|policy|filter)|flagged (?:as|for|by)|violat\w+ (?:our|the|usage) [\w ]{0,30}polic|responsible ai|prohibited content|data policy|blocked by (?:our )?(?:moderation|safety)|inappropriate content/i
const SAYS_GONE =
  /model[^.]{0,80}(?:does not exist|not found|was not found|is not (?:available|supported|found)|no longer|has been (?:deprecated|decommissioned|retired|removed)|not exist)|(?:no such|unknown|invalid) model|model `?[\w./:-]+`? not found|deployment[^.]{0,80}does not exist|not a valid model|try pulling it|no endpoints found/i
const SAYS_BUSY =
  /overloaded|over capacity|temporarily unavailable|service unavailable|server is busy|high demand|try again later|capacity/i
const SAYS_RATE =
  /rate.?limit|too many requests|(?:tokens|requests) per (?:minute|min|second|hour)|throttl|too many tokens, please wait/i

export function classify(reported: Reported): Kind {
  const kind = bySubstance(reported)
  // A quota or a wrong key does not mend itself, whatever the headers say.
  if (reported.shouldRetry === undefined || kind.code === 'quota' || kind.code === 'auth' || kind.code === 'context_length')
    return kind
  return { ...kind, retryable: reported.shouldRetry }
}

function bySubstance(reported: Reported): Kind {
  const { status, message, codes } = reported
  const coded = (pattern: RegExp): boolean => codes.some((code) => pattern.test(code))

  if (coded(OVERFLOW) || (isClientError(status) && isOverflow(message, status))) return { code: 'context_length' }
  if (coded(QUOTA) || status === 402) return { code: 'quota' }
  if (isQuotaByWords(reported)) return { code: 'quota' }
  if (status === 401 || coded(AUTH)) return { code: 'auth' }
  if (coded(POLICY) || (isClientError(status) && SAYS_POLICY.test(message))) return { code: 'policy' }
  if (status === 403) return { code: 'auth' }
  if (status === 400 && SAYS_AUTH.test(message)) return { code: 'auth' }
  if (coded(GONE) || status === 410 || (isClientError(status) && status !== 429 && SAYS_GONE.test(message)))
    return { code: 'model_unavailable' }
  if (status === 404) return reported.foreign ? { code: 'invalid_response', retryable: false } : { code: 'model_unavailable' }
  if (status === 405 || (status !== undefined && status < 400)) return { code: 'invalid_response', retryable: false }
  if (status === 429 || status === 498)
    return SAYS_BUSY.test(message) && !SAYS_RATE.test(message) ? { code: 'overloaded' } : { code: 'rate_limited' }
  if (status === 408 || status === 504 || status === 524) return { code: 'timeout' }
  if (status === 409 || status === 425) return { code: 'overloaded' }
  if (status !== undefined && status >= 500)
    return { code: 'overloaded', ...(status === 501 || status === 505 ? { retryable: false } : {}) }
  if (isClientError(status))
    return coded(RATE) || SAYS_RATE.test(message) ? { code: 'rate_limited' } : { code: 'invalid_request' }
  return withoutStatus(coded, message)
}

/** Errors inside a stream of status 200 have only words. */
function withoutStatus(coded: (pattern: RegExp) => boolean, message: string): Kind {
  if (coded(RATE) || SAYS_RATE.test(message)) return { code: 'rate_limited' }
  if (coded(LATE)) return { code: 'timeout' }
  if (coded(BUSY) || SAYS_BUSY.test(message)) return { code: 'overloaded' }
  if (isOverflow(message)) return { code: 'context_length' }
  if (SAYS_AUTH.test(message)) return { code: 'auth' }
  if (SAYS_POLICY.test(message)) return { code: 'policy' }
  if (SAYS_GONE.test(message)) return { code: 'model_unavailable' }
  return { code: coded(/^invalid_|_failed$|bad_request|failed_precondition|out_of_range/) ? 'invalid_request' : 'overloaded' }
}

/**
 * Google says “exceeded your current quota” also when a limit per minute is meant; then it names the quota, or says when to come back.
 */
function isQuotaByWords({ message, quotas, retryAfterMs, status }: Reported): boolean {
  if (!SAYS_QUOTA.test(message) || !isClientError(status)) return false
  if (quotas.length > 0) return quotas.every((quota) => !/per(?:minute|hour|second)/i.test(quota))
  return retryAfterMs === undefined || retryAfterMs > LONG_WAIT
}

/** Who is told to come back in more than a quarter of an hour has used up more than a rate. */
const LONG_WAIT = 15 * 60_000

/** No status: an error within a stream, which may be anything. */
function isClientError(status: number | undefined): boolean {
  return status === undefined || (status >= 400 && status < 500)
}
