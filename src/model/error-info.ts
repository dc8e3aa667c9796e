/** Makes the plain JSON of an error for events. The error itself stays at hand in this process, for those who reject with it. */

import { isCriaError } from '../core/error.ts'
import type { CriaError, ErrorInfo } from '../core/error.ts'
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

/** What signals were aborted with, by the `cancelled` event that told of it. */
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

/** What caused the error that was shown as `info`: the very object in the process that it happened in, else an error with its message. */
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
