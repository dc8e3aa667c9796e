/** Tells whether a request that failed before its answer began can have cost anything. */

import type { CriaError, ErrorCode } from '../core/error.ts'

/** The provider said no. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'overloaded',
  'context_length',
  'model_unavailable',
  'auth',
  'quota',
  'policy',
  'invalid_request',
  'configuration',
])

/** Node's words for a connection that was never made. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

export function wasRefused(error: CriaError): boolean {
  if (REFUSALS.has(error.code) || (error.status !== undefined && error.status >= 400)) return true
  // What is not worth another try was not sent: a certificate that is not trusted, a port that is blocked.
  if (error.code === 'network' && !error.retryable) return true
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if (NEVER_SENT.has(String((cause as NodeJS.ErrnoException).code))) return true
    if (cause instanceof AggregateError)
      return cause.errors.some((each: unknown) => NEVER_SENT.has(String((each as NodeJS.ErrnoException).code)))
  }
  return false
}
