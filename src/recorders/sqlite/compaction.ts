/** Stores the compacted conversation for later turns. The messages are the ones that are stored anyway, by content. */

import type { Message } from '../../core/message.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { compactedTo } from '../history.ts'
import { decodeMessage, storeMessage } from './message.ts'

/** Part of the caller's transaction. @param position of the turn's next message. */
export function storeCompaction(connection: Connection, turn: number, position: number, messages: readonly Message[]): void {
  connection.run('DELETE FROM compacted_messages WHERE turn = ?', [turn])
  connection.run(
    'INSERT INTO compactions (turn, position) VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
    [turn, position],
  )
  for (const [index, message] of messages.entries()) {
    connection.run('INSERT INTO compacted_messages (turn, position, message_id, message) VALUES (?, ?, ?, ?)', [
      turn,
      index,
      message.id,
      storeMessage(connection, message),
    ])
  }
}

/** Empty where nothing was compacted. */
export function readCompaction(connection: Connection, turn: number): readonly Message[] {
  const rows = connection.all<{ message_id: string; body: string }>(
    'SELECT message_id, body FROM compacted_messages JOIN messages ON messages.id = message WHERE turn = ? ORDER BY position',
    [turn],
  )
  const messages = rows.map(({ message_id: id, body }) => decodeMessage(id, body))
  const own = connection.all<Pick<Message, 'id' | 'role'>>(
    'SELECT message_id AS id, role FROM turn_messages JOIN messages ON messages.id = message WHERE turn = ?',
    [turn],
  )
  return compactedTo(messages, own)
}
