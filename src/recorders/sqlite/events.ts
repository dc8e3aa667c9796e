/**
 * Stores the events of a turn. The text of a long answer is stored once, in its message; the row of the turn, its deltas and its last event refer to
 * that message.
 */

import type { EventOf, QueryEvent } from '../../core/event.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readRow, readRows } from './columns.ts'
import type { Damage } from './columns.ts'
import type { TurnKey } from './journal.ts'
import { textReader } from './message.ts'
import { fromRow, sharedEnd, toRows, toSharedRows } from './rows.ts'
import type { EventRow, StoredRow } from './rows.ts'

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
