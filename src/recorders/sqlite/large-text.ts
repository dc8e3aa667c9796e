/**
 * A long answer is kept once: its message holds the text, and the row of the turn, its deltas and its last event refer to the message. Without
 * that, each of them has a copy.
 */

import type { EventOf, QueryEvent } from '../../core/event.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { insertEvents, insertRow, textReader } from './events.ts'
import type { TurnKey } from './events.ts'
import { fromRow, sharedEnd, toSharedRows } from './rows.ts'
import type { StoredRow } from './rows.ts'

/** Characters from which on a text is shared; shorter ones are found where one looks for them. */
const LONG = 65_536

/**
 * Part of the transaction that closes a turn: writes the last event, and shares the text of the answer where it is long.
 *
 * @returns the key of the message that holds the text; `undefined` where nothing is shared.
 */
export function insertEnd(connection: Connection, turn: TurnKey, event: QueryEvent, text: string): number | undefined {
  const message = text.length < LONG ? undefined : messageOf(connection, turn, text)
  if (message === undefined) insertEvents(connection, turn.key, [event])
  else {
    shareDeltas(connection, turn, message, text)
    if (event.type === 'complete' && event.result.text === text) insertRow(connection, turn.key, sharedEnd(event), message.key)
    else insertEvents(connection, turn.key, [event])
  }
  return message?.key
}

interface Holder {
  readonly key: number
  readonly step: number
}

/** The last message of the assistant, where its text is this one. */
function messageOf(connection: Connection, turn: TurnKey, text: string): Holder | undefined {
  const last = connection.get<Holder>(
    `SELECT message AS key, step FROM turn_messages JOIN messages ON messages.id = message
     WHERE turn = ? AND role = 'assistant' ORDER BY position DESC LIMIT 1`,
    [turn.key],
  )
  return last !== undefined && textReader(connection)(last.key) === text ? last : undefined
}

function shareDeltas(connection: Connection, turn: TurnKey, { key, step }: Holder, text: string): void {
  const rows = connection.all<StoredRow>(
    `SELECT seq, step, at, type, body, NULL AS messageBody, message
     FROM events WHERE turn = ? AND type = 'text_delta' AND step = ? ORDER BY seq`,
    [turn.key, step],
  )
  const unpacked = rows.map((row) => ({
    seq: row.seq,
    deltas: fromRow(row, turn, textReader(connection)) as EventOf<'text_delta'>[],
  }))
  // Earlier attempts were taken back.
  const attempt = unpacked.at(-1)?.deltas[0]?.attempt
  const said = unpacked.filter(({ deltas }) => deltas[0]?.attempt === attempt)
  const deltas = said.flatMap((row) => row.deltas)
  if (deltas.map((delta) => delta.text).join('') !== text) return
  for (const { seq } of said) connection.run('DELETE FROM events WHERE turn = ? AND seq = ?', [turn.key, seq])
  for (const row of toSharedRows(deltas)) insertRow(connection, turn.key, row, key)
}
