/**
 * Events as rows. Deltas that follow each other share a row that keeps their boundaries and times; the message of a `message` event
 * is kept with the other messages. What was written is read back exactly.
 */

import type { EventOf, QueryEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import { wellFormedJson } from './json.ts'
import { decodeMessage, useOf } from './message.ts'
import type { MessageUse } from './message.ts'

export interface EventRow {
  /** Of the last event in the row. */
  readonly seq: number
  readonly step: number
  /** Of the first event in the row. */
  readonly at: number
  readonly type: QueryEvent['type']
  readonly body: string
}

export interface StoredRow extends EventRow {
  /** Body of the message of a `message` event. */
  readonly messageBody: string | null
}

/** Body of a row of a `message` event. */
interface MessageBody {
  readonly messageId: string
  readonly use?: MessageUse
}

type Delta = EventOf<'text_delta' | 'thinking'>

/** Body of a row of deltas: the texts one by one, and the milliseconds from each to the next. */
interface DeltaBody {
  readonly attempt: number
  readonly texts: readonly string[]
  readonly gaps: readonly number[]
}

/** Rows for events in their order; of the message of a `message` event they hold the id alone. */
export function toRows(events: readonly QueryEvent[]): EventRow[] {
  const rows: EventRow[] = []
  for (let first = 0; first < events.length;) {
    const event = events[first] as QueryEvent
    let next = first + 1
    if (isDelta(event)) {
      while (next < events.length && continues(events[next - 1] as Delta, events[next] as QueryEvent)) next += 1
    }
    rows.push(next - first === 1 ? singleRow(event) : deltaRow(events.slice(first, next) as Delta[]))
    first = next
  }
  return rows
}

/** The events of a row, in order. */
export function fromRow(row: StoredRow, turn: { readonly sessionId: string; readonly turnId: string }): QueryEvent[] {
  const body = JSON.parse(row.body) as Record<string, unknown>
  const stamp = { sessionId: turn.sessionId, turnId: turn.turnId, step: row.step }
  if (!isDeltaBody(body)) {
    const facts = row.messageBody === null ? body : { message: storedMessage(body as unknown as MessageBody, row.messageBody) }
    return [{ type: row.type, ...stamp, seq: row.seq, at: row.at, ...facts } as QueryEvent]
  }
  const field = row.type === 'text_delta' ? 'text' : 'content'
  let at = row.at
  return body.texts.map((text, index) => {
    at += body.gaps[index] ?? 0
    const seq = row.seq - body.texts.length + 1 + index
    return { type: row.type, ...stamp, seq, at, [field]: text, attempt: body.attempt } as QueryEvent
  })
}

function singleRow(event: QueryEvent): EventRow {
  const { type, sessionId: _session, turnId: _turn, step, seq, at, ...body } = event
  return { type, step, seq, at, body: wellFormedJson(event.type === 'message' ? messageBodyOf(event.message) : body) }
}

function messageBodyOf(message: Message): MessageBody {
  const use = useOf(message)
  return { messageId: message.id, ...(use === undefined ? {} : { use }) }
}

function storedMessage({ messageId, use }: MessageBody, body: string): Message {
  return decodeMessage(messageId, body, use)
}

function deltaRow(deltas: readonly Delta[]): EventRow {
  const [first, last] = [deltas[0] as Delta, deltas.at(-1) as Delta]
  const body: DeltaBody = {
    attempt: first.attempt,
    texts: deltas.map((delta) => (delta.type === 'text_delta' ? delta.text : delta.content)),
    gaps: deltas.map((delta, index) => delta.at - (deltas[index - 1] ?? delta).at),
  }
  return { type: first.type, step: first.step, seq: last.seq, at: first.at, body: wellFormedJson(body) }
}

function isDelta(event: QueryEvent): event is Delta {
  return event.type === 'text_delta' || event.type === 'thinking'
}

function continues(delta: Delta, event: QueryEvent): boolean {
  return (
    event.type === delta.type &&
    event.attempt === delta.attempt &&
    event.step === delta.step &&
    event.seq === delta.seq + 1 &&
    // Differences of whole numbers are exact, so that the times read back are the times written.
    Number.isSafeInteger(delta.at) &&
    Number.isSafeInteger(event.at)
  )
}

function isDeltaBody(body: Record<string, unknown>): body is Record<string, unknown> & DeltaBody {
  return Array.isArray(body['gaps'])
}
