/** Reads the answer to a request: an event stream or one JSON object. Anything else becomes an error. */

import { createParser } from 'eventsource-parser'
import { CriaError } from '../../core/error.ts'
import type { CriaErrorOptions } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Api, Decoder } from '../api.ts'
import { isErrorBody, ReportedError } from '../errors/reported.ts'
import { ByteSource } from './byte-source.ts'
import type { BodyKind } from './byte-source.ts'
import { parseObject } from './json.ts'
import type { Answered, Peer } from './network.ts'
import { brokenOff, isAbort } from './network.ts'

/** Limit of an answer that is not streamed, which is kept in memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Far more than any answer needs; stops a stream that never ends. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024
/** Limit of an event in characters: an event without an end would fill the memory. */
const MAX_EVENT: number = 32 * 1024 * 1024
/**
 * Deltas that arrive within this time, in milliseconds, are decoded, stored and displayed together. The first is never held back
 * (docs/decisions/0038-deltas-in-groups.md).
 */
const HOLD_MS = 16
/** Limit, in milliseconds, for reading the response after the end of the answer, so that the connection can be reused. */
const DRAIN_MS = 250
const DRAIN_BYTES = 64 * 1024
/** Wait, in milliseconds, for events after the finish reason, such as usage: some servers keep the connection open. */
const AFTER_END_MS = 1000
const MAX_ERROR_BODY_BYTES = 256 * 1024
/** Wait, in milliseconds, for the body of an error. */
const ERROR_BODY_MS = 2000
/** Number of characters that an error quotes of a text that is not an answer. */
const SHOWN = 300

export interface WireOptions {
  readonly api: Pick<Api, 'decode'>
  readonly peer: Peer
  /** Makes the request. */
  readonly request: () => Promise<Answered>
  readonly maxEventBytes?: number | undefined
  /** Limit of a whole stream in bytes. Default 256 MB. */
  readonly maxAnswerBytes?: number | undefined
}

/** Sends the request and adds the received parts to `answer`; yields after each read. @throws any error, after the parts before it were added. */
export async function* readAnswer(options: WireOptions, answer: Answer): AsyncGenerator<void, void, undefined> {
  const { api, peer, request, maxEventBytes, maxAnswerBytes = MAX_STREAM_BYTES } = options
  let source: ByteSource | undefined
  let lastWait: NodeJS.Timeout | undefined
  try {
    const response = await request()
    source = new ByteSource(response)
    const kind = await kindOf(response, source, peer)
    answer.hasBegun = true
    const decoder = api.decode(answer)
    if (kind === 'json') {
      answer.isWhole = true
      const body = await readBody(source, response.status, peer, MAX_BODY_BYTES)
      if (!ANSWERS.some((name) => name in body))
        throw invalid(peer, `the answer is not what this API sends: ${JSON.stringify(body).slice(0, 100)}`)
      decoder.whole(body)
      return
    }
    const events = createEventStream(decoder, answer, peer.provider, maxEventBytes)
    for (let bytes = 0; !answer.ended;) {
      yield
      if (answer.complete) lastWait ??= setTimeout(source.close, AFTER_END_MS).unref()
      const pieces = await source.read(answer.hasContent ? HOLD_MS : 0).catch((thrown: unknown) => {
        // The answer is complete, so the error is harmless.
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
      if (bytes > maxAnswerBytes)
        throw invalid(peer, `the answer was stopped: its stream is longer than ${maxAnswerBytes} bytes.`, {
          retryable: false,
          hint: 'The text received before is kept. To raise the limit, set the option maxAnswerBytes of createModel().',
        })
    }
    if (answer.ended) await within(DRAIN_MS, source, drain(source)).catch(() => {})
    // Open tool calls of an answer that broke off are dropped.
    if (answer.ended || answer.rawReason !== undefined) decoder.end()
  } catch (thrown) {
    throw explain(thrown, peer)
  } finally {
    clearTimeout(lastWait)
    source?.close()
  }
}

/** Reads an answer that is one JSON object. @throws ReportedError for an error of the provider, CriaError for any other answer. */
export async function readWhole(response: Answered, peer: Peer, maxBytes: number): Promise<JsonObject> {
  const source = new ByteSource(response)
  try {
    await kindOf(response, source, peer)
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

/** @throws ReportedError for a status of 400 or more, CriaError `invalid_response` for a body that is neither events nor JSON. */
async function kindOf(response: Answered, source: ByteSource, peer: Peer): Promise<'events' | 'json'> {
  const { status } = response
  // A redirect without a location, or the status 304.
  if (status >= 300 && status < 400)
    throw invalid(peer, `${peer.host} answered with the status ${status}, which is not valid here.`, {
      status,
      hint: 'Is this the base URL of the API? A proxy on the way may also have answered instead of the API.',
    })
  if (!response.ok) throw await failure(response, source)
  const kind = await source.kind()
  if (kind === 'events' || kind === 'json') return kind
  throw notAnAnswer(kind, status, await source.text(MAX_ERROR_BODY_BYTES), peer)
}

/** Converts errors of the socket and the decoder to readable ones. */
function explain(thrown: unknown, peer: Peer): unknown {
  if (thrown instanceof RangeError) return invalid(peer, thrown.message, { retryable: false, cause: thrown })
  const isKnown = isAbort(thrown) || thrown instanceof ReportedError || thrown instanceof CriaError
  return isKnown ? thrown : brokenOff(thrown, peer)
}

/** Reads the body of an error response, within limits of size and time. */
async function failure({ status, headers }: Answered, source: ByteSource): Promise<ReportedError> {
  const text = await within(ERROR_BODY_MS, source, source.text(MAX_ERROR_BODY_BYTES)).catch((thrown: unknown) => {
    // The status alone is useful even if the body breaks off or never ends.
    if (isAbort(thrown)) throw thrown
    return ''
  })
  // APIs do not send such a status: a gateway failed.
  const isOdd = status < 400 || status > 599
  return new ReportedError(text, isOdd ? 502 : status, Object.fromEntries(headers))
}

/** Reads up to `DRAIN_BYTES` after the end of the answer. */
async function drain(source: ByteSource): Promise<void> {
  for (let bytes = 0; bytes < DRAIN_BYTES;) {
    const pieces = await source.read()
    if (pieces === undefined) return
    for (const { length } of pieces) bytes += length
  }
}

/** Waits for `work`; closes the source after `ms` milliseconds, which ends the work. */
async function within<T>(ms: number, source: ByteSource, work: Promise<T>): Promise<T> {
  const giveUp = setTimeout(source.close, ms)
  try {
    return await work
  } finally {
    clearTimeout(giveUp)
  }
}

/** Members of which every answer has at least one. */
const ANSWERS = ['choices', 'output', 'content', 'candidates', 'promptFeedback', 'usageMetadata', 'status']

/** Describes a text that is not an answer, for example a page of a gateway about its upstream. */
function notAnAnswer(kind: BodyKind, status: number, text: string, peer: Peer): CriaError {
  const answered = `${peer.host} answered ${status} with`
  if (kind === 'empty') return invalid(peer, `${answered} an empty response.`, { status })
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? ''
  const page = `a web page${title === '' ? '' : ` (“${title}”)`}`
  const other = `text that is neither JSON nor an event stream: ${JSON.stringify(text.slice(0, SHOWN))}`
  return invalid(peer, `${answered} ${kind === 'markup' ? page : other}.`, {
    status,
    hint: 'Is this the base URL of the API, with its version (…/v1)? A proxy on the way may also have answered instead of the API.',
  })
}

function invalid({ provider }: Peer, message: string, options: CriaErrorOptions = {}): CriaError {
  return new CriaError('invalid_response', `${provider}: ${message}`, options)
}

export interface EventStream {
  /** @throws RangeError for an event that is too large, CriaError `stream_interrupted` for one that is not JSON, and errors of the decoder. */
  push(bytes: Uint8Array): void
  /** Decodes a last event without an empty line after it: the specification drops it, but some servers send it. */
  end(): void
}

/** @param provider named in errors. */
export function createEventStream(
  decoder: Pick<Decoder, 'event'>,
  answer: Pick<Answer, 'ended'>,
  provider: string,
  maxEvent: number = MAX_EVENT,
): EventStream {
  const bytesToText = new TextDecoder()
  let number = 0
  let isAtEnd = false
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent({ data }) {
      number++
      if (answer.ended) return
      // OpenAI's end mark. Some servers send no empty line after it, so that later lines become part of the same event.
      if (!data.startsWith('{') && data.trimStart().startsWith('[DONE]')) {
        answer.ended = true
        return
      }
      const event = parseObject(data)
      if (event !== undefined) return decoder.event(event)
      if (isAtEnd || saysNothing(data)) return
      const message = `${provider}: event ${number} of the stream is not JSON: ${JSON.stringify(data.slice(0, 80))}.`
      throw new CriaError('stream_interrupted', message, { details: { event: number } })
    },
    onError({ type, field, value }) {
      if (type === 'max-buffer-size-exceeded')
        throw new RangeError(`A single event of the stream is larger than ${Math.round(maxEvent / 1024 / 1024)} MB.`)
      // llama.cpp reports its errors in a field of their own.
      const error = field === 'error' && value !== undefined && !answer.ended ? parseObject(value) : undefined
      if (error !== undefined) decoder.event({ error })
    },
  })
  return {
    push: (bytes) => parser.feed(bytesToText.decode(bytes, { stream: true })),
    end() {
      isAtEnd = true
      parser.feed(`${bytesToText.decode()}\n\n`)
    },
  }
}

/** Returns whether an event is a keep-alive: it is empty, or holds a JSON value without members. */
function saysNothing(data: string): boolean {
  return data.trim() === '' || /^\s*(?:null|true|false|-?\d+(?:\.\d+)?|"[^"\\]*")\s*$/.test(data)
}
