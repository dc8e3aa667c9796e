/** The text of whole server-sent events: taken apart, judged, put together again. */

import type { JsonObject } from '../../core/json.ts'
import { parseObject } from './dialect.ts'

export interface WireEvent {
  readonly name: string | undefined
  /** The data lines, joined with LF as the specification says. */
  readonly data: string
}

/** llama.cpp tells its errors in a field of their own. */
const ERROR_LINE = /^error: ?(\{.*\})$/m
/** What a line has in it that may be one. */
export const ERROR_LINE_MARKERS: readonly string[] = ['error: {', 'error:{']

/** The error that an event without data tells in place of it. */
export function errorLineIn(text: string): JsonObject | undefined {
  const error = ERROR_LINE.exec(text)?.[1]
  return error === undefined ? undefined : parseObject(error)
}

/**
 * Reads one event whose lines end with LF. `undefined` when it has no data: comments, an empty event, fields that nobody knows.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function parseEvent(text: string): WireEvent | undefined {
  let name: string | undefined
  let data: string | undefined
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') name = value === '' ? undefined : value
  }
  return data === undefined ? undefined : { name, data }
}

export function formatEvent(data: JsonObject, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}

const END = Buffer.from('\n\n')

/** The pieces of a block of whole events, each up to and with its empty line. */
export function* splitEvents(block: Buffer): Generator<Buffer, void, undefined> {
  let from = 0
  while (from < block.length) {
    let end = block.indexOf(END, from)
    end = end < 0 ? block.length : end + END.length
    yield block.subarray(from, end)
    from = end
  }
}

const COLON = 58
const LF = 10

/** How many events with data a block of whole events holds. Runs over every byte of every stream, so it makes no pieces where it need not. */
export function countEvents(block: Buffer): number {
  let count = 0
  for (let from = 0; from < block.length;) {
    const found = block.indexOf(END, from)
    const end = found < 0 ? block.length : found + END.length
    // A comment, or more empty lines: what else is in it has to be looked at.
    const odd = block[from] === COLON || block[from] === LF
    if (!odd || parseEvent(block.toString('latin1', from, end)) !== undefined) count++
    from = end
  }
  return count
}
