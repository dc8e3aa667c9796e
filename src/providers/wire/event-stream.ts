/** Cuts the bytes of an answer into server-sent events, wherever the network cut them, and numbers them. */

import { createParser } from 'eventsource-parser'
import type { JsonObject } from '../../core/json.ts'
import { parseObject } from './json.ts'

/** In characters: an event that never ends would fill the memory. */
const MAX_EVENT: number = 32 * 1024 * 1024

export class EventTooLargeError extends Error {
  constructor(limit: number) {
    super(`A single event of the stream is larger than ${Math.round(limit / 1024 / 1024)} MB.`)
    this.name = 'EventTooLargeError'
  }
}

/** The data of an event should be JSON and is not. */
export class GarbledEventError extends Error {
  /** From 1. */
  readonly number: number
  readonly data: string
  constructor(data: string, number: number) {
    super(`event ${number} of the stream is no JSON`)
    this.name = 'GarbledEventError'
    this.data = data
    this.number = number
  }
}

export interface EventReader {
  readonly event: (event: JsonObject) => void
  /** OpenAI's end mark `[DONE]`, which others send as well, whatever their API. */
  readonly done: () => void
  /** What comes after the end of the answer is not read. */
  readonly isOver: () => boolean
}

export interface EventStream {
  /** @throws EventTooLargeError, GarbledEventError, and what the reader throws. */
  push(bytes: Uint8Array): void
  /**
   * The end of the bytes. The specification drops an event that no empty line ends; some servers end their last one that way, so it counts when it
   * is whole.
   */
  end(): void
}

export function createEventStream(reader: EventReader, maxEvent: number = MAX_EVENT): EventStream {
  const decoder = new TextDecoder()
  let number = 0
  let isAtEnd = false
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent({ data }) {
      number++
      if (reader.isOver()) return
      // Some servers put no empty line after the end mark, and what follows becomes part of the same event.
      if (!data.startsWith('{') && data.trimStart().startsWith('[DONE]')) return reader.done()
      const event = parseObject(data)
      if (event !== undefined) reader.event(event)
      else if (!saysNothing(data) && !isAtEnd) throw new GarbledEventError(data, number)
    },
    onError({ type, field, value }) {
      if (type === 'max-buffer-size-exceeded') throw new EventTooLargeError(maxEvent)
      // llama.cpp reports its errors in a field of their own.
      const error = field === 'error' && value !== undefined && !reader.isOver() ? parseObject(value) : undefined
      if (error !== undefined) reader.event({ error })
    },
  })
  return {
    push: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    end() {
      isAtEnd = true
      parser.feed(`${decoder.decode()}\n\n`)
    },
  }
}

/** Keep-alives of some servers: an event with nothing in it, or with JSON that has no members. */
function saysNothing(data: string): boolean {
  return data.trim() === '' || /^\s*(?:null|true|false|-?\d+(?:\.\d+)?|"[^"\\]*")\s*$/.test(data)
}
