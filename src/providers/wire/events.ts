/** The text of whole server-sent events: taken apart, judged, put together again. */

import type { JsonObject } from '../../core/json.ts'

export interface WireEvent {
  readonly name: string | undefined
  /** The data lines, joined with LF as the specification says. */
  readonly data: string
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
const DATA = Buffer.from('data')

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

/** How many events with data a block of whole events holds. */
export function countEvents(block: Buffer): number {
  let count = 0
  for (const event of splitEvents(block)) if (event.includes(DATA)) count++
  return count
}
