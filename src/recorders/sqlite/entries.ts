/** Entries of a turn, spread over the tables they belong to. */

import type { QueryEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { JournalEntry } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { insertEvents } from './events.ts'
import type { OpenTurn } from './journal.ts'
import { storeCompaction } from './compaction.ts'
import { wellFormedJson } from './columns.ts'
import { storeMessage, useOf } from './message.ts'

export interface Written {
  readonly nextPosition: number
  /** Ids of messages that came with a `message` event. */
  readonly assembled: ReadonlySet<string>
}

/** Part of the caller's transaction; `turn` itself is left as it is. */
export function writeEntries(connection: Connection, turn: OpenTurn, entries: readonly JournalEntry[]): Written {
  const assembled = new Set<string>()
  const events: QueryEvent[] = []
  /** Keys of messages, by the `seq` of their event. */
  const messageKeys = new Map<number, number>()
  let nextPosition = turn.nextPosition

  const addMessage = (message: Message, step: number): number => {
    const key = storeMessage(connection, message)
    const use = useOf(message)
    connection.run('INSERT INTO turn_messages (turn, position, step, message_id, message, use) VALUES (?, ?, ?, ?, ?, ?)', [
      turn.key,
      nextPosition,
      step,
      message.id,
      key,
      use === undefined ? null : wellFormedJson(use),
    ])
    nextPosition += 1
    return key
  }

  for (const entry of entries) {
    if (entry.type === 'messages') {
      for (const message of entry.messages) {
        if (!assembled.has(message.id) && !turn.assembled.has(message.id)) addMessage(message, entry.step)
      }
    } else if (entry.type === 'compaction') {
      storeCompaction(connection, turn.key, nextPosition, entry.messages)
    } else if (entry.type === 'tool_start') {
      startCall(connection, turn.key, entry)
    } else {
      const { event } = entry
      events.push(event)
      if (event.type === 'message') {
        messageKeys.set(event.seq, addMessage(event.message, event.step))
        assembled.add(event.message.id)
      } else if (event.type === 'tool_result') {
        finishCall(connection, turn.key, event.result.id, event.result.isError ? 'failed' : 'done', event.seq)
      }
    }
  }
  insertEvents(connection, turn.key, events, messageKeys)
  return { nextPosition, assembled }
}

/** The intent. A second try of the same call changes nothing: what counts is that it may have had its effect since the first. */
function startCall(connection: Connection, turn: number, call: Extract<JournalEntry, { type: 'tool_start' }>): void {
  connection.run(
    `INSERT INTO tool_calls (turn, call_id, step, name, input, idempotency_key, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    [turn, call.callId, call.step, call.name, call.input.toWellFormed(), call.idempotencyKey, call.at],
  )
}

/** The result of a call that was started; one that was refused has no row, and needs none. */
export function finishCall(
  connection: Connection,
  turn: number,
  callId: string,
  state: 'done' | 'failed' | 'unknown',
  seq: number,
): void {
  connection.run(`UPDATE tool_calls SET state = ?, result_seq = ? WHERE turn = ? AND call_id = ? AND state = 'started'`, [
    state,
    seq,
    turn,
    callId,
  ])
}
