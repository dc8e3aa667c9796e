/** Looks at what came in place of an answer: an error with its status, a page, text, nothing. */

import { CriaError } from '../../core/error.ts'
import { ReportedError } from '../errors/reported.ts'
import { ByteSource } from './byte-source.ts'
import type { BodyKind } from './byte-source.ts'
import { EventTooLargeError } from './event-stream.ts'
import type { Peer } from './network.ts'
import { brokenOff, isAbort } from './network.ts'
import type { Answered } from './send.ts'

const MAX_ERROR_BODY_BYTES = 256 * 1024
/** The words of an error come with its status, or they are not waited for. */
const ERROR_BODY_MS = 2000
/** Characters of a text that is not an answer. */
const SHOWN = 300

/**
 * The bytes of an answer, and which of its two shapes it has: the one that was asked for, or the other.
 * @throws ReportedError for a status of 400 and more, CriaError `invalid_response` for anything that is not an answer.
 */
export async function receive(response: Answered, peer: Peer): Promise<{ source: ByteSource; shape: 'events' | 'json' }> {
  const source = new ByteSource(response)
  try {
    if (response.status >= 300 && response.status < 400) throw notFollowed(response.status, peer)
    if (!response.ok) throw await failure(response, source)
    const kind = await source.kind()
    if (kind === 'events' || kind === 'json') return { source, shape: kind }
    throw notAnAnswer(kind, response.status, await source.text(MAX_ERROR_BODY_BYTES), peer)
  } catch (thrown) {
    source.close()
    throw explain(thrown, peer)
  }
}

/** A redirect that says nothing of where to, or “not modified”. */
function notFollowed(status: number, { provider, host }: Peer): CriaError {
  const hint = 'Is this the base URL of the API? A proxy in between may also answer in its place.'
  return new CriaError('invalid_response', `${provider}: ${host} answered ${status}, which is no answer to a request.`, {
    status,
    hint,
  })
}

/** An error that a person understands, for what the socket or the event stream throws. */
export function explain(thrown: unknown, peer: Peer): Error {
  if (thrown instanceof EventTooLargeError || thrown instanceof RangeError)
    return new CriaError('invalid_response', `${peer.provider}: ${thrown.message}`, { retryable: false, cause: thrown })
  if (thrown instanceof Error && (isAbort(thrown) || OURS.has(thrown.name) || thrown instanceof CriaError)) return thrown
  return brokenOff(thrown, peer)
}

const OURS = new Set(['ReportedError', 'GarbledEventError'])

/** The body of an error is short, or it is cut short. */
async function failure({ status, headers }: Answered, source: ByteSource): Promise<ReportedError> {
  const giveUp = setTimeout(() => source.close(), ERROR_BODY_MS)
  let text = ''
  try {
    text = await source.text(MAX_ERROR_BODY_BYTES)
  } catch (thrown) {
    // The status says more than a body that broke off or never ends.
    if (isAbort(thrown)) throw thrown
  } finally {
    clearTimeout(giveUp)
  }
  // No API answers a request with one of these: a gateway failed.
  const isOdd = status < 400 || status > 599
  return new ReportedError(text, isOdd ? 502 : status, Object.fromEntries(headers))
}

/** A text that is not an answer, in an error: what a gateway says about its upstream, for example. */
export function notAnAnswer(kind: BodyKind, status: number, text: string, { provider, host }: Peer): CriaError {
  if (kind === 'empty')
    return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with an empty response.`, { status })
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.trim()
  const what =
    kind === 'markup'
      ? `a web page${title === undefined || title === '' ? '' : ` (“${title}”)`}`
      : `text that is neither JSON nor an event stream: ${JSON.stringify(text.slice(0, SHOWN))}`
  return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with ${what}.`, {
    status,
    hint: 'Is this the base URL of the API, with its version (…/v1)? A proxy in between may also answer in its place.',
  })
}
