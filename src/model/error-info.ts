/**
 * Makes a `CriaError` of what a model throws, and of an error the plain JSON for events. The error itself stays at hand in this process, for those
 * who reject with it.
 */

import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { ErrorCode, ErrorInfo } from '../core/error.ts'
import { redact } from '../util/redact.ts'

/** By what was shown of them. */
const origins = new WeakMap<ErrorInfo, CriaError>()

/** With the message of its cause, where that says more than the error does. */
export function errorInfo(error: CriaError): ErrorInfo {
  const cause = causeMessage(error)
  return remembered({ ...error.toJSON(), ...(cause === undefined ? {} : { cause }) }, error)
}

/** The same with more members; `details` are added to those that are there. */
export function withMore(info: ErrorInfo, { details, ...more }: Partial<ErrorInfo>): ErrorInfo {
  const all = { ...info.details, ...details }
  return remembered({ ...info, ...more, ...(Object.keys(all).length === 0 ? {} : { details: all }) }, origins.get(info))
}

/** Reasons with which signals were aborted, by the `cancelled` event that told of it. */
const reasons = new WeakMap<object, unknown>()

/** Notes why a turn was cancelled, for those who reject with it in this process. */
export function cancelledBy<Event extends object>(event: Event, signal: AbortSignal | undefined): Event {
  if (signal?.aborted === true) reasons.set(event, signal.reason)
  return event
}

/** The reason of the signal that cancelled a turn, by its last event; `undefined` in another process, and where the reader left. */
export function abortReasonOf(event: object): unknown {
  return reasons.get(event)
}

/** Returns what caused the error that was shown as `info`: the very object in the process that it happened in, else an error with its message. */
export function causeOf(info: ErrorInfo): unknown {
  const origin = origins.get(info)
  return origin === undefined ? (info.cause === undefined ? undefined : new Error(info.cause)) : origin.cause
}

function remembered(info: ErrorInfo, origin: CriaError | undefined): ErrorInfo {
  if (origin !== undefined) origins.set(info, origin)
  return info
}

/** The first cause that adds something. Of what provider libraries throw the adapters have told already, without keys. */
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

/** Node's words for a connection that broke, and what `fetch` says of one. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'fetch failed', 'terminated'])
const LATE: ReadonlySet<string> = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/**
 * The error of an attempt. Adapters of ours throw a `CriaError`, without keys; models of users throw anything: a connection that failed and an HTTP
 * status are recognised, everything else is `internal` and names the model.
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
    hint: `The model ${model} threw this: its \`stream()\` may throw a CriaError that says what it is, and whether it is worth another try.`,
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

/** An error and what caused it, outermost first; of several at once all. */
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

/** The provider said no. */
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

/** Node's words for a connection that was never made. */
const NEVER_SENT: ReadonlySet<string> = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
)

/** Tells whether a request that failed before its answer began costs nothing. */
export function wasRefused(error: CriaError): boolean {
  if (REFUSALS.includes(error.code) || (error.status !== undefined && error.status >= 400)) return true
  // What is not worth another try was not sent: a certificate that is not trusted, a port that is blocked.
  if (error.code === 'network' && !error.retryable) return true
  return causesOf(error.cause).some((cause) => NEVER_SENT.has(String((cause as NodeJS.ErrnoException).code)))
}
