/** Events of a turn in the table of events. */

import type { QueryEvent } from '../../core/event.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readRow } from './columns.ts'
import type { Damage } from './columns.ts'
import { decodeMessage } from './message.ts'
import { fromRow, toRows } from './rows.ts'
import type { EventRow, StoredRow } from './rows.ts'

/** Fewer rows of deltas than this stay as they are: joined they would take no less room. */
const FOLD_FROM = 64

export interface TurnKey {
  /** Integer key of the row of the turn. */
  readonly key: number
  readonly turnId: string
  readonly sessionId: string
}

/** `messages` has the key of the message of each `message` event, by `seq`. */
export function insertEvents(
  connection: Connection,
  turn: number,
  events: readonly QueryEvent[],
  messages: ReadonlyMap<number, number> = new Map(),
): void {
  for (const row of toRows(events)) insertRow(connection, turn, row, messages.get(row.seq) ?? null)
}

/** Events whose `seq` is greater than `after`, but for those that cannot be read. */
export function readEvents(connection: Connection, turn: TurnKey, after = -1, damage: Damage = []): QueryEvent[] {
  const rows = readRow('the list of its events', damage, () =>
    connection.all<StoredRow>(
      `SELECT seq, step, at, type, events.body, messages.body AS messageBody, message
       FROM events LEFT JOIN messages ON messages.id = message AND type = 'message' WHERE turn = ? AND seq > ? ORDER BY seq`,
      [turn.key, after],
    ),
  )
  const textOf = textReader(connection)
  const events = (rows ?? []).flatMap((row) => readRow(`event ${row.seq}`, damage, () => fromRow(row, turn, textOf)) ?? [])
  // The first row may begin before what was asked for.
  return events.filter((event) => event.seq > after)
}

/** Reads the texts of messages, each once. */
export function textReader(connection: Connection): (message: number) => string {
  const texts = new Map<number, string>()
  return (message) => {
    let text = texts.get(message)
    if (text === undefined) {
      const row = connection.get<{ body: string }>('SELECT body FROM messages WHERE id = ?', [message])
      text = decodeMessage('', row?.body ?? '').content
      texts.set(message, text)
    }
    return text
  }
}

/** Joins the rows of deltas that were written batch by batch, where there are so many of them that it saves room. */
export function foldDeltas(connection: Connection, turn: TurnKey & { readonly nextSeq: number }): void {
  if (turn.nextSeq < FOLD_FROM) return
  const rows = connection.all<StoredRow>(
    `SELECT seq, step, at, type, body, NULL AS messageBody, message
     FROM events WHERE turn = ? AND type IN ('text_delta', 'thinking') AND message IS NULL ORDER BY seq`,
    [turn.key],
  )
  if (rows.length < FOLD_FROM) return
  const folded = toRows(rows.flatMap((row) => fromRow(row, turn, textReader(connection))))
  connection.run(`DELETE FROM events WHERE turn = ? AND type IN ('text_delta', 'thinking') AND message IS NULL`, [turn.key])
  for (const row of folded) insertRow(connection, turn.key, row, null)
}

export function insertRow(connection: Connection, turn: number, row: EventRow, message: number | null): void {
  connection.run('INSERT INTO events (turn, seq, step, at, type, body, message) VALUES (?, ?, ?, ?, ?, ?, ?)', [
    turn,
    row.seq,
    row.step,
    row.at,
    row.type,
    row.body,
    message,
  ])
}
