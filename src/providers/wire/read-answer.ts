/** Reads the answer to a request from its socket: an event stream, an answer in one piece, or an error about what came in their place. */

import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Api } from '../api.ts'
import { isErrorBody, ReportedError } from '../errors/reported.ts'
import { ByteSource } from './byte-source.ts'
import type { BodyKind } from './byte-source.ts'
import { createEventStream } from './event-stream.ts'
import { parseObject } from './json.ts'
import type { Peer } from './network.ts'
import { brokenOff, isAbort } from './network.ts'
import type { Answered } from './send.ts'

/** An answer in one piece is kept in memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Many times what any answer takes: a stream that never ends, and says nothing that counts, is stopped there. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024
/**
 * Pieces of an answer that come one by one are decoded, stored and shown together when they come within this time, in milliseconds. The first is
 * never held back (docs/decisions/0038-deltas-in-groups.md).
 */
const HOLD_MS = 16
/** After the end of the answer the rest of the response is read, so that the connection can be used again, but not for ever. */
const DRAIN_MS = 250
const DRAIN_BYTES = 64 * 1024
/** Reports beside an answer that has ended, as its usage, are not waited for longer: some servers keep the connection open. */
const AFTER_END_MS = 1000
const MAX_ERROR_BODY_BYTES = 256 * 1024
/** The words of an error come with its status, or they are not waited for. */
const ERROR_BODY_MS = 2000
/** Characters of a text that is not an answer. */
const SHOWN = 300

export interface WireOptions {
  readonly api: Pick<Api, 'decode'>
  readonly peer: Peer
  /** Makes the request. */
  readonly request: () => Promise<Answered>
  readonly maxEventBytes?: number | undefined
  /** Bytes of a whole stream. Default 256 MB. */
  readonly maxAnswerBytes?: number | undefined
}

/** Sends the request and adds what comes to the answer; yields when something was added. @throws what went wrong, after all that came before it. */
export async function* readAnswer(options: WireOptions, answer: Answer): AsyncGenerator<void, void, undefined> {
  const { api, peer, request, maxEventBytes, maxAnswerBytes = MAX_STREAM_BYTES } = options
  let source: ByteSource | undefined
  let lastWait: NodeJS.Timeout | undefined
  try {
    const response = await request()
    const received = await receive(response, peer)
    source = received.source
    answer.hasBegun = true
    const decoder = api.decode(answer)
    if (received.kind === 'json') {
      answer.isWhole = true
      const body = await readBody(source, response.status, peer, MAX_BODY_BYTES)
      if (!ANSWERS.some((name) => name in body)) throw notOfThisApi(body, peer)
      decoder.whole(body)
      return
    }
    const events = createEventStream(decoder, answer, peer.provider, maxEventBytes)
    for (let bytes = 0; !answer.ended;) {
      yield
      if (answer.complete) lastWait ??= setTimeout(source.close, AFTER_END_MS).unref()
      const pieces = await source.read(answer.hasContent ? HOLD_MS : 0).catch((thrown: unknown) => {
        // Nothing of the answer is missing.
        if (answer.complete && !isAbort(thrown)) return undefined
        throw thrown
      })
      if (pieces === undefined) {
        events.end()
        break
      }
      for (const piece of pieces) {
        bytes += piece.length
        events.push(piece)
      }
      if (bytes > maxAnswerBytes) throw tooLong(maxAnswerBytes, peer)
    }
    if (answer.ended) await within(DRAIN_MS, source, drain(source)).catch(() => {})
    // A call of an answer that broke off is not a call.
    if (answer.ended || answer.rawReason !== undefined) decoder.end()
  } catch (thrown) {
    throw explain(thrown, peer)
  } finally {
    clearTimeout(lastWait)
    source?.close()
  }
}

/** The one JSON object that answers a request. @throws ReportedError for an error, CriaError for anything else. */
export async function readWhole(response: Answered, peer: Peer, maxBytes: number): Promise<JsonObject> {
  const { source } = await receive(response, peer)
  try {
    return await readBody(source, response.status, peer, maxBytes)
  } catch (thrown) {
    throw explain(thrown, peer)
  } finally {
    source.close()
  }
}

async function readBody(source: ByteSource, status: number, peer: Peer, maxBytes: number): Promise<JsonObject> {
  const text = await source.text(maxBytes)
  const body = parseObject(text)
  if (body === undefined) throw notAnAnswer('text', status, text, peer)
  if (isErrorBody(body)) throw new ReportedError(body)
  return body
}

/** @throws ReportedError for a status of 400 and more, CriaError `invalid_response` for anything that is neither events nor JSON. */
async function receive(response: Answered, peer: Peer): Promise<{ source: ByteSource; kind: 'events' | 'json' }> {
  const source = new ByteSource(response)
  const { status } = response
  try {
    if (status >= 300 && status < 400) throw notFollowed(status, peer)
    if (!response.ok) throw await failure(response, source)
    const kind = await source.kind()
    if (kind === 'events' || kind === 'json') return { source, kind }
    throw notAnAnswer(kind, status, await source.text(MAX_ERROR_BODY_BYTES), peer)
  } catch (thrown) {
    source.close()
    throw explain(thrown, peer)
  }
}

/** An error that a person understands, for what the socket or the decoder throws. */
function explain(thrown: unknown, peer: Peer): unknown {
  if (thrown instanceof RangeError)
    return new CriaError('invalid_response', `${peer.provider}: ${thrown.message}`, { retryable: false, cause: thrown })
  const isKnown = isAbort(thrown) || thrown instanceof ReportedError || thrown instanceof CriaError
  return isKnown ? thrown : brokenOff(thrown, peer)
}

/** The body of an error is short, or it is cut short. */
async function failure({ status, headers }: Answered, source: ByteSource): Promise<ReportedError> {
  const text = await within(ERROR_BODY_MS, source, source.text(MAX_ERROR_BODY_BYTES)).catch((thrown: unknown) => {
    // The status says more than a body that broke off or never ends.
    if (isAbort(thrown)) throw thrown
    return ''
  })
  // No API answers a request with one of these: a gateway failed.
  const isOdd = status < 400 || status > 599
  return new ReportedError(text, isOdd ? 502 : status, Object.fromEntries(headers))
}

/** Reads what follows an answer that is complete; how the connection ends does not matter any more. */
async function drain(source: ByteSource): Promise<void> {
  for (let bytes = 0; bytes < DRAIN_BYTES;) {
    const pieces = await source.read()
    if (pieces === undefined) return
    for (const { length } of pieces) bytes += length
  }
}

/** Closes the source when the work takes too long, which ends the work. */
async function within<T>(ms: number, source: ByteSource, work: Promise<T>): Promise<T> {
  const giveUp = setTimeout(source.close, ms)
  try {
    return await work
  } finally {
    clearTimeout(giveUp)
  }
}

function tooLong(limit: number, { provider }: Peer): CriaError {
  return new CriaError('invalid_response', `${provider}: the answer was stopped: its stream is longer than ${limit} bytes.`, {
    retryable: false,
    hint: 'What came before is kept. A higher limit can be set: the option maxAnswerBytes of createModel().',
  })
}

/** A body that is an answer has one of these. */
const ANSWERS = ['choices', 'output', 'content', 'candidates', 'promptFeedback', 'usageMetadata', 'status']

function notOfThisApi(body: JsonObject, { provider }: Peer): CriaError {
  const words = JSON.stringify(body).slice(0, 100)
  return new CriaError('invalid_response', `${provider}: the answer is not what this API sends: ${words}`)
}

/** A redirect that says nothing of where to, or “not modified”. */
function notFollowed(status: number, { provider, host }: Peer): CriaError {
  const hint = 'Is this the base URL of the API? A proxy in between may also answer in its place.'
  const message = `${provider}: ${host} answered ${status}, which is no answer to a request.`
  return new CriaError('invalid_response', message, { status, hint })
}

/** A text that is not an answer, in an error: what a gateway says about its upstream, for example. */
function notAnAnswer(kind: BodyKind, status: number, text: string, { provider, host }: Peer): CriaError {
  if (kind === 'empty')
    return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with an empty response.`, { status })
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? ''
  const page = `a web page${title === '' ? '' : ` (“${title}”)`}`
  const other = `text that is neither JSON nor an event stream: ${JSON.stringify(text.slice(0, SHOWN))}`
  return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with ${kind === 'markup' ? page : other}.`, {
    status,
    hint: 'Is this the base URL of the API, with its version (…/v1)? A proxy in between may also answer in its place.',
  })
}
