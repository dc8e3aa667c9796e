/** Writes the entries and the end of a turn to their tables, as part of the caller's transaction. */

import type { QueryEvent } from '../../core/event.ts'
import type { JournalEntry, TurnClose, TurnState } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { columnOf, insertInto, jsonOrNull, readText, textColumn, USAGE } from './columns.ts'
import type { Row } from './columns.ts'
import { insertEvents } from './events.ts'
import type { OpenTurn, TurnKey } from './journal.ts'
import { searchableText } from './lists.ts'
import { addMessage, storeCompaction } from './message.ts'

export interface Written {
  readonly nextPosition: number
  /** Ids of messages written with their `message` event. */
  readonly assembled: ReadonlySet<string>
}

/** Writes entries; does not change `turn`. */
export function writeEntries(connection: Connection, turn: OpenTurn, entries: readonly JournalEntry[]): Written {
  const assembled = new Set<string>()
  const events: QueryEvent[] = []
  /** Keys of messages, by the `seq` of their event. */
  const messageKeys = new Map<number, number>()
  let nextPosition = turn.nextPosition

  for (const entry of entries) {
    if (entry.type === 'messages') {
      for (const message of entry.messages) {
        if (assembled.has(message.id) || turn.assembled.has(message.id)) continue
        addMessage(connection, turn.key, nextPosition++, entry.step, message)
      }
    } else if (entry.type === 'compaction') {
      storeCompaction(connection, turn.key, nextPosition, entry.messages)
    } else if (entry.type === 'tool_start') {
      startCall(connection, turn.key, entry)
    } else {
      const { event } = entry
      events.push(event)
      if (event.type === 'message') {
        messageKeys.set(event.seq, addMessage(connection, turn.key, nextPosition++, event.step, event.message))
        assembled.add(event.message.id)
      } else if (event.type === 'tool_result') {
        finishCall(connection, turn.key, event.result.id, event.result.isError ? 'failed' : 'done', event.seq)
      }
    }
  }
  insertEvents(connection, turn.key, events, messageKeys)
  return { nextPosition, assembled }
}

/** Records a call before it runs. A retry keeps the first row: the call may have had its effect since then. */
function startCall(connection: Connection, turn: number, call: Extract<JournalEntry, { type: 'tool_start' }>): void {
  connection.run(
    `INSERT INTO tool_calls (turn, call_id, step, name, input, idempotency_key, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    [turn, call.callId, call.step, call.name, call.input.toWellFormed(), call.idempotencyKey, call.at],
  )
}

/** Records the result of a started call; a refused call has no row. */
export function finishCall(
  connection: Connection,
  turn: number,
  callId: string,
  state: 'done' | 'failed' | 'unknown',
  seq: number,
): void {
  const values = [state, seq, turn, callId]
  connection.run(`UPDATE tool_calls SET state = ?, result_seq = ? WHERE turn = ? AND call_id = ? AND state = 'started'`, values)
}

/** The end of a turn, closed or lost. */
export interface TurnEnd
  extends
    Pick<TurnClose, 'endedAt' | 'text' | 'usage' | 'costUsd' | 'error' | 'temperature'>,
    Partial<Pick<TurnClose, 'model' | 'metrics'>> {
  readonly state: Exclude<TurnState, 'open' | 'waiting'>
  readonly latencyMs: number
  readonly finishReason: string | null
  /** Key of the message that holds the text, where the text is stored only there. */
  readonly textMessage?: number | undefined
}

/** Completes the row, adds the turn to the search index, and makes it the predecessor of the session's next turn. */
export function endTurn(connection: Connection, { key, turnId, sessionId }: TurnKey, end: TurnEnd): void {
  const { state, endedAt, latencyMs, finishReason, costUsd, textMessage, model, temperature, usage } = end
  const text = end.text.toWellFormed()
  const columns: Row = {
    state,
    endedAt,
    latencyMs,
    finishReason,
    costUsd,
    ...Object.fromEntries(USAGE.map((name) => [name, usage[name] ?? null])),
    error: jsonOrNull(end.error),
    metrics: jsonOrNull(end.metrics),
    text: textMessage === undefined ? text : '',
    textMessage: textMessage ?? null,
    // Where they are absent, the values of the open turn stay.
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
  }
  const assignments = Object.keys(columns).map((name) => `${columnOf(name)} = ?`)
  connection.run(`UPDATE turns SET ${assignments.join(', ')} WHERE id = ?`, [...Object.values(columns), key])
  if (finishReason === 'waiting') insertInto(connection, 'waiting', { turn: key, sessionId })
  const row = connection.get<{ exclusive: number; question: Uint8Array }>(
    `SELECT exclusive, ${textColumn('question')} FROM turns WHERE id = ?`,
    [key],
  )
  if (row?.exclusive === 1) connection.run('UPDATE sessions SET head_turn_id = ? WHERE session_id = ?', [turnId, sessionId])
  const question = row === undefined ? '' : readText(row.question)
  insertInto(connection, 'turn_search', { rowid: key, question: searchableText(question), answer: searchableText(text) })
}
