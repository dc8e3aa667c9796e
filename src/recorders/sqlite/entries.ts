/** Spreads the entries and the end of a turn over the tables they belong to, as parts of the caller's transaction. */

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
  /** Ids of messages that came with a `message` event. */
  readonly assembled: ReadonlySet<string>
}

/** `turn` itself is left as it is. */
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
  const values = [state, seq, turn, callId]
  connection.run(`UPDATE tool_calls SET state = ?, result_seq = ? WHERE turn = ? AND call_id = ? AND state = 'started'`, values)
}

/** How a turn ended, whoever ended it. */
export interface TurnEnd
  extends
    Pick<TurnClose, 'endedAt' | 'text' | 'usage' | 'costUsd' | 'error' | 'temperature'>,
    Partial<Pick<TurnClose, 'model' | 'metrics'>> {
  readonly state: Exclude<TurnState, 'open' | 'waiting'>
  readonly latencyMs: number
  readonly finishReason: string | null
  /** Key of the message that holds the text, where it is kept there alone. */
  readonly textMessage?: number | undefined
}

/** Fills the row, lets the turn be found by its words, and makes it the one that the next of its session follows. */
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
    // Where they are absent, they are those that the turn was opened with.
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
