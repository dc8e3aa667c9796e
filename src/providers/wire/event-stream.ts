/** Parses the bytes of an answer, in pieces of any size, into server-sent events and decodes them. */

import { createParser } from 'eventsource-parser'
import { CriaError } from '../../core/error.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { parseObject } from './json.ts'

/** Limit of an event in characters: an event without an end would fill the memory. */
const MAX_EVENT: number = 32 * 1024 * 1024

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
