/**
 * Converts errors of models to `CriaError`, and these to plain JSON for events. The original error stays available in this process, to reject
 * with it.
 */

import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { ErrorCode, ErrorInfo } from '../core/error.ts'
import { redact } from '../util/redact.ts'

/** Original errors by their JSON. */
const origins = new WeakMap<ErrorInfo, CriaError>()

/** Converts an error to JSON, with the message of its cause if that adds something. */
export function errorInfo(error: CriaError): ErrorInfo {
  const cause = causeMessage(error)
  return remembered({ ...error.toJSON(), ...(cause === undefined ? {} : { cause }) }, error)
}

/** Returns a copy with more members; `details` are merged. */
export function withMore(info: ErrorInfo, { details, ...more }: Partial<ErrorInfo>): ErrorInfo {
  const all = { ...info.details, ...details }
  return remembered({ ...info, ...more, ...(Object.keys(all).length === 0 ? {} : { details: all }) }, origins.get(info))
}

/** Abort reasons of signals, by `cancelled` event. */
const reasons = new WeakMap<object, unknown>()

/** Remembers the abort reason of a cancelled turn, to reject with it in this process. */
export function cancelledBy<Event extends object>(event: Event, signal: AbortSignal | undefined): Event {
  if (signal?.aborted === true) reasons.set(event, signal.reason)
  return event
}

/** Returns the abort reason of a turn by its last event; `undefined` in another process, or if the reader left. */
export function abortReasonOf(event: object): unknown {
  return reasons.get(event)
}

/** Returns the cause of an error by its JSON: the original object within its process, else an error with its message. */
export function causeOf(info: ErrorInfo): unknown {
  const origin = origins.get(info)
  return origin === undefined ? (info.cause === undefined ? undefined : new Error(info.cause)) : origin.cause
}

function remembered(info: ErrorInfo, origin: CriaError | undefined): ErrorInfo {
  if (origin !== undefined) origins.set(info, origin)
  return info
}

/** Returns the message of the first cause that adds something. Skips errors of provider libraries: adapters report them without keys. */
function causeMessage({ message, cause: first }: CriaError): string | undefined {
  const seen = new Set<unknown>()
  for (let cause = first; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause)
    const said = redact(cause.message)
    if (said === '' || message.includes(said) || (cause.name.startsWith('AI_') && !isCriaError(cause))) continue
    return said.slice(0, MAX_CHARS)
  }
  return undefined
}

const MAX_CHARS = 1000

/** HTTP statuses that errors of client libraries carry. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'model_unavailable',
  408: 'timeout',
  409: 'overloaded',
  429: 'rate_limited',
}

/** Error codes and messages of Node and `fetch` for a broken connection. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'fetch failed', 'terminated'])
const LATE: ReadonlySet<string> = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/**
 * Converts an error of an attempt. Built-in adapters throw a `CriaError` without keys; models of users may throw anything: failed connections
 * and HTTP statuses are recognised, everything else is `internal` and names the model.
 */
export function failureOf(thrown: unknown, model: string): CriaError {
  if (isCriaError(thrown)) return thrown
  const { code, message } = toCriaError(thrown)
  const found = code === 'internal' ? (codeOfStatus(thrown) ?? codeOfConnection(thrown)) : { code }
  if (found !== undefined) {
    const causes = causesOf(thrown).slice(1)
    const said = new Set([message, ...causes.map((cause) => cause.message)].filter((words) => words !== ''))
    return new CriaError(found.code, redact([...said].join(': ')), { ...found, cause: thrown })
  }
  return new CriaError('internal', redact(message), {
    hint: `The model ${model} threw this: its \`stream()\` may throw a CriaError with a code, a message and \`retryable\`.`,
    cause: thrown,
  })
}

function codeOfStatus(thrown: unknown): { readonly code: ErrorCode; readonly status: number } | undefined {
  const { status, statusCode } = Object(thrown) as { readonly status?: unknown; readonly statusCode?: unknown }
  const given = status ?? statusCode
  if (typeof given !== 'number' || given < 400 || given > 599) return undefined
  return { code: BY_STATUS[given] ?? (given >= 500 ? 'overloaded' : 'invalid_request'), status: given }
}

function codeOfConnection(thrown: unknown): { readonly code: ErrorCode } | undefined {
  const words = causesOf(thrown).flatMap((cause) => [String((cause as NodeJS.ErrnoException).code), cause.message])
  if (words.some((word) => LATE.has(word))) return { code: 'timeout' }
  return words.some((word) => BROKEN.has(word) || NEVER_SENT.has(word)) ? { code: 'network' } : undefined
}

/** Returns an error and its causes, outermost first; all errors of an `AggregateError`. */
function causesOf(thrown: unknown): readonly Error[] {
  const found: Error[] = []
  const look = (at: unknown): void => {
    if (!(at instanceof Error) || found.includes(at)) return
    found.push(at)
    if (at instanceof AggregateError) at.errors.forEach(look)
    look(at.cause)
  }
  look(thrown)
  return found
}

/** Codes of requests that the provider rejected. */
const REFUSALS: readonly ErrorCode[] = [
  'rate_limited',
  'overloaded',
  'context_length',
  'model_unavailable',
  'auth',
  'quota',
  'policy',
  'invalid_request',
  'configuration',
]

/** Error codes of Node for a connection that was not established. */
const NEVER_SENT: ReadonlySet<string> = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
)

/** Returns `true` if a request that failed before its answer began is free of charge. */
export function wasRefused(error: CriaError): boolean {
  if (REFUSALS.includes(error.code) || (error.status !== undefined && error.status >= 400)) return true
  // A network error that is not retryable occurs before sending: an untrusted certificate or a blocked port.
  if (error.code === 'network' && !error.retryable) return true
  return causesOf(error.cause).some((cause) => NEVER_SENT.has(String((cause as NodeJS.ErrnoException).code)))
}
