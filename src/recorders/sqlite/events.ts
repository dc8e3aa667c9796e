/**
 * Stores the events of a turn, and converts them to rows and back without loss. Consecutive deltas share a row that keeps their boundaries and
 * times; the message of a `message` event is stored with the other messages. The text of a long answer is stored once, in its message; the row of
 * the turn, its deltas and its last event refer to that message.
 */

import type { EventOf, QueryEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readRow, readRows, wellFormedJson } from './columns.ts'
import type { Damage } from './columns.ts'
import type { TurnKey } from './journal.ts'
import { decodeMessage, textReader, useOf } from './message.ts'
import type { MessageUse } from './message.ts'

/** With fewer rows of deltas, joining them would not save space. */
const FOLD_FROM = 64
/** Characters from which a text is shared; shorter texts are stored with their events. */
const LONG = 65_536

/** @param messages the key of the message of each `message` event, by `seq`. */
export function insertEvents(
  connection: Connection,
  turn: number,
  events: readonly QueryEvent[],
  messages: ReadonlyMap<number, number> = new Map(),
): void {
  for (const row of toRows(events)) insertEvent(connection, turn, row, messages.get(row.seq))
}

function insertEvent(connection: Connection, turn: number, { seq, step, at, type, body }: EventRow, message?: number): void {
  const values = [turn, seq, step, at, type, body, message ?? null]
  connection.run('INSERT INTO events (turn, seq, step, at, type, body, message) VALUES (?, ?, ?, ?, ?, ?, ?)', values)
}

/** Returns the readable events whose `seq` is greater than `after`. */
export function readEvents(connection: Connection, turn: TurnKey, after = -1, damage: Damage = []): QueryEvent[] {
  const rows = readRow('the list of its events', damage, () =>
    connection.all<StoredRow>(
      `SELECT seq, step, at, type, events.body, messages.body AS messageBody, message
       FROM events LEFT JOIN messages ON messages.id = message AND type = 'message' WHERE turn = ? AND seq > ? ORDER BY seq`,
      [turn.key, after],
    ),
  )
  const textOf = textReader(connection)
  const events = readRows(
    rows ?? [],
    damage,
    ({ seq }) => `event ${seq}`,
    (row) => fromRow(row, turn, textOf),
  )
  // The first row may contain earlier events.
  return events.flat().filter(({ seq }) => seq > after)
}

/** Joins the rows of deltas that were written batch by batch, where that saves space. */
export function foldDeltas(connection: Connection, turn: TurnKey & { readonly nextSeq: number }): void {
  if (turn.nextSeq < FOLD_FROM) return
  const deltas = `turn = ? AND type IN ('text_delta', 'thinking') AND message IS NULL`
  const rows = readDeltas(connection, deltas, [turn.key])
  if (rows.length < FOLD_FROM) return
  const events = rows.flatMap((row) => fromRow(row, turn, noText))
  connection.run(`DELETE FROM events WHERE ${deltas}`, [turn.key])
  insertEvents(connection, turn.key, events)
}

function readDeltas(connection: Connection, condition: string, values: readonly number[]): StoredRow[] {
  return connection.all<StoredRow>(
    `SELECT seq, step, at, type, body, NULL AS messageBody, message FROM events WHERE ${condition} ORDER BY seq`,
    values,
  )
}

/** Rows of deltas contain their own texts until the turn is closed. */
function noText(): string {
  return ''
}

/**
 * Writes the last event, as part of the transaction that closes the turn; shares the text of a long answer.
 *
 * @returns the key of the message that holds the text; `undefined` where nothing is shared.
 */
export function insertEnd(connection: Connection, turn: TurnKey, event: QueryEvent, text: string): number | undefined {
  const holder = text.length < LONG ? undefined : messageWith(connection, turn, text)
  if (holder !== undefined) shareDeltas(connection, turn, holder, text)
  if (holder !== undefined && event.type === 'complete' && event.result.text === text)
    insertEvent(connection, turn.key, sharedEnd(event), holder.key)
  else insertEvents(connection, turn.key, [event])
  return holder?.key
}

interface Holder {
  readonly key: number
  readonly step: number
}

/** Returns the last assistant message if it has this text. */
function messageWith(connection: Connection, turn: TurnKey, text: string): Holder | undefined {
  const last = connection.get<Holder>(
    `SELECT message AS key, step FROM turn_messages JOIN messages ON messages.id = message
     WHERE turn = ? AND role = 'assistant' ORDER BY position DESC LIMIT 1`,
    [turn.key],
  )
  return last !== undefined && textReader(connection)(last.key) === text ? last : undefined
}

function shareDeltas(connection: Connection, turn: TurnKey, { key, step }: Holder, text: string): void {
  const rows = readDeltas(connection, `turn = ? AND type = 'text_delta' AND step = ?`, [turn.key, step])
  const unpacked = rows.map((row) => ({ seq: row.seq, deltas: fromRow(row, turn, noText) as EventOf<'text_delta'>[] }))
  // Earlier attempts were reset.
  const attempt = unpacked.at(-1)?.deltas[0]?.attempt
  const said = unpacked.filter(({ deltas }) => deltas[0]?.attempt === attempt)
  const deltas = said.flatMap((row) => row.deltas)
  if (deltas.map((delta) => delta.text).join('') !== text) return
  for (const { seq } of said) connection.run('DELETE FROM events WHERE turn = ? AND seq = ?', [turn.key, seq])
  for (const row of toSharedRows(deltas)) insertEvent(connection, turn.key, row, key)
}

interface EventRow {
  /** Number of the last event in the row. */
  readonly seq: number
  readonly step: number
  /** Time of the first event in the row. */
  readonly at: number
  readonly type: QueryEvent['type']
  readonly body: string
}

interface StoredRow extends EventRow {
  /** Body of the message of a `message` event. */
  readonly messageBody: string | null
  /** Key of the message of a `message` event, or of the message whose text this row shares. */
  readonly message: number | null
}

/** Body of the row of a `message` event. */
interface MessageBody {
  readonly messageId: string
  readonly use?: MessageUse
}

type Delta = EventOf<'text_delta' | 'thinking'>

/** Body of a row of deltas: their texts, and the milliseconds from each to the next. */
interface DeltaBody {
  readonly attempt: number
  readonly texts: readonly string[]
  readonly gaps: readonly number[]
}

/** Body of a row of deltas whose text is in a message: the lengths of the deltas, and the offset of the first. */
interface SharedBody extends Omit<DeltaBody, 'texts'> {
  readonly lengths: readonly number[]
  readonly from: number
}

/** Makes rows for deltas whose joined texts are the text of a message. */
function toSharedRows(deltas: readonly EventOf<'text_delta'>[]): EventRow[] {
  let from = 0
  return runsOf(deltas).map((run) => {
    const { texts, ...rest } = deltaBody(run)
    const body: SharedBody = { ...rest, lengths: texts.map(({ length }) => length), from }
    from += texts.reduce((sum, { length }) => sum + length, 0)
    return rowOf(run, body)
  })
}

/** Makes rows for events in order; a `message` event keeps only the id of its message. */
export function toRows(events: readonly QueryEvent[]): EventRow[] {
  return runsOf(events).map((run) => (run.length > 1 ? rowOf(run, deltaBody(run as Delta[])) : singleRow(run[0] as QueryEvent)))
}

/** Groups consecutive deltas; every other event is a group by itself. */
function runsOf<Event extends QueryEvent>(events: readonly Event[]): Event[][] {
  const runs: Event[][] = []
  let run: Event[] = []
  let last: Event | undefined
  for (const event of events) {
    if (last !== undefined && continues(last, event)) run.push(event)
    else runs.push((run = [event]))
    last = event
  }
  return runs
}

/**
 * Returns the events of a row, in order.
 * @param textOf returns the text of the message with this key.
 */
export function fromRow(
  row: StoredRow,
  turn: { readonly sessionId: string; readonly turnId: string },
  textOf: (message: number) => string,
): QueryEvent[] {
  const body = JSON.parse(row.body) as Record<string, unknown>
  const stamp = { sessionId: turn.sessionId, turnId: turn.turnId, step: row.step }
  if (!isDeltaBody(body))
    return [{ type: row.type, ...stamp, seq: row.seq, at: row.at, ...factsOf(row, body, textOf) } as QueryEvent]
  const texts = isShared(body) ? sharedTexts(body, row, textOf) : body.texts
  const field = row.type === 'text_delta' ? 'text' : 'content'
  let at = row.at
  return texts.map((text, index) => {
    at += body.gaps[index] ?? 0
    const seq = row.seq - texts.length + 1 + index
    return { type: row.type, ...stamp, seq, at, [field]: text, attempt: body.attempt } as QueryEvent
  })
}

function factsOf(row: StoredRow, body: Record<string, unknown>, textOf: (message: number) => string): object {
  if (row.messageBody !== null) {
    const { messageId, use } = body as unknown as MessageBody
    return { message: decodeMessage(messageId, row.messageBody, use) }
  }
  if (row.type !== 'complete' || row.message === null) return body
  return { ...body, result: { ...(body['result'] as object), text: textOf(row.message) } }
}

function sharedTexts({ lengths, from }: SharedBody, { message }: StoredRow, textOf: (message: number) => string): string[] {
  const text = message === null ? '' : textOf(message)
  let at = from
  return lengths.map((length) => text.slice(at, (at += length)))
}

/** Makes the row of a `complete` event whose text is in a message. */
function sharedEnd(event: EventOf<'complete'>): EventRow {
  const { text: _text, ...result } = event.result
  return singleRow({ ...event, result: result as typeof event.result })
}

function singleRow(event: QueryEvent): EventRow {
  const { type: _type, sessionId: _session, turnId: _turn, step: _step, seq: _seq, at: _at, ...body } = event
  return rowOf([event], event.type === 'message' ? messageBodyOf(event.message) : body)
}

function messageBodyOf(message: Message): MessageBody {
  const use = useOf(message)
  return { messageId: message.id, ...(use === undefined ? {} : { use }) }
}

/** @param run at least one event. */
function rowOf(run: readonly QueryEvent[], body: object): EventRow {
  const [first, last] = [run[0] as QueryEvent, run.at(-1) as QueryEvent]
  return { type: first.type, step: first.step, seq: last.seq, at: first.at, body: wellFormedJson(body) }
}

function deltaBody(deltas: readonly Delta[]): DeltaBody {
  return {
    attempt: (deltas[0] as Delta).attempt,
    texts: deltas.map((delta) => (delta.type === 'text_delta' ? delta.text : delta.content)),
    gaps: deltas.map((delta, index) => delta.at - (deltas[index - 1] ?? delta).at),
  }
}

function continues(delta: QueryEvent, event: QueryEvent): boolean {
  return (
    (delta.type === 'text_delta' || delta.type === 'thinking') &&
    event.type === delta.type &&
    event.attempt === delta.attempt &&
    event.step === delta.step &&
    event.seq === delta.seq + 1 &&
    // Differences of whole numbers are exact, so that the same times are read back.
    Number.isSafeInteger(delta.at) &&
    Number.isSafeInteger(event.at)
  )
}

function isShared(body: DeltaBody | SharedBody): body is SharedBody {
  return 'lengths' in body
}

function isDeltaBody(body: Record<string, unknown>): body is Record<string, unknown> & (DeltaBody | SharedBody) {
  return Array.isArray(body['gaps'])
}
