/** Sends one request and reads its answer from the socket. */

import { CriaError } from '../../core/error.ts'
import type { Answer } from '../answer/answer.ts'
import type { AnswerSource, Api, Decoder } from '../api.ts'
import { isErrorBody, ReportedError } from '../errors/reported.ts'
import type { ByteSource } from './byte-source.ts'
import { createEventStream } from './event-stream.ts'
import type { EventStream } from './event-stream.ts'
import { parseObject } from './json.ts'
import type { Peer } from './network.ts'
import { isAbort } from './network.ts'
import { explain, notAnAnswer, receive } from './receive.ts'
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
/** What may be said beside an answer that has ended, as what it cost, is not waited for longer: some servers keep the connection open. */
const AFTER_END_MS = 1000

export interface WireOptions {
  readonly api: Api
  readonly peer: Peer
  /** Makes the request. */
  readonly request: () => Promise<Answered>
  readonly maxEventBytes: number | undefined
  /** Bytes of a whole stream. Default 256 MB. */
  readonly maxAnswerBytes?: number | undefined
}

export function wireSource({ api, peer, request, maxEventBytes, maxAnswerBytes = MAX_STREAM_BYTES }: WireOptions): AnswerSource {
  let source: ByteSource | undefined
  let decoder: Decoder | undefined
  let events: EventStream | undefined
  let isWhole = false
  let bytes = 0
  let lastWait: NodeJS.Timeout | undefined

  async function begin(answer: Answer): Promise<boolean> {
    const response = await request()
    const received = await receive(response, peer)
    source = received.source
    decoder = api.decode(answer)
    if (received.shape === 'json') return readWhole(source, response.status, decoder)
    events = createEventStream(
      { event: decoder.event, done: () => void (answer.ended = true), isOver: () => answer.ended },
      maxEventBytes,
    )
    return true
  }

  async function readWhole(source: ByteSource, status: number, decoder: Decoder): Promise<boolean> {
    isWhole = true
    const text = await source.text(MAX_BODY_BYTES)
    const body = parseObject(text)
    if (body === undefined) throw notAnAnswer('text', status, text, peer)
    if (isErrorBody(body)) throw new ReportedError(body)
    if (!ANSWERS.some((name) => name in body)) throw notOfThisApi(text, peer)
    decoder.whole(body)
    return false
  }

  async function readOn(answer: Answer, source: ByteSource, events: EventStream): Promise<boolean> {
    if (answer.complete) lastWait ??= setTimeout(() => source.close(), AFTER_END_MS).unref()
    const pieces = await source.read(answer.hasContent ? HOLD_MS : 0).catch((thrown: unknown) => {
      // Nothing of the answer is missing.
      if (answer.complete && !isAbort(thrown)) return undefined
      throw thrown
    })
    if (pieces === undefined) events.end()
    else {
      for (const piece of pieces) {
        bytes += piece.length
        events.push(piece)
      }
      if (bytes > maxAnswerBytes) throw tooLong(maxAnswerBytes, peer)
    }
    if (pieces !== undefined && !answer.ended) return true
    if (answer.ended) await drain(source)
    // A call of an answer that broke off is not a call.
    if (answer.ended || answer.rawReason !== undefined) decoder?.end()
    return false
  }

  return {
    async next(answer) {
      try {
        if (source === undefined) return await begin(answer)
        return events !== undefined && (await readOn(answer, source, events))
      } catch (thrown) {
        throw explain(thrown, peer)
      }
    },
    isWhole: () => isWhole,
    hasBegun: () => source !== undefined,
    close() {
      clearTimeout(lastWait)
      source?.close()
    },
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

function notOfThisApi(text: string, { provider }: Peer): CriaError {
  return new CriaError('invalid_response', `${provider}: the answer is not what this API sends: ${text.slice(0, 100)}`)
}

async function drain(source: ByteSource): Promise<void> {
  const giveUp = setTimeout(() => source.close(), DRAIN_MS)
  try {
    for (let bytes = 0; bytes < DRAIN_BYTES;) {
      const pieces = await source.read()
      if (pieces === undefined) break
      for (const { length } of pieces) bytes += length
    }
  } catch {
    // The answer is complete; how the connection ends does not matter any more.
  } finally {
    clearTimeout(giveUp)
  }
}
