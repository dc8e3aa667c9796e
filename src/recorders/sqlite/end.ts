/** Stores how a turn ended. */

import type { ErrorInfo } from '../../core/error.ts'
import type { TurnMetrics, TurnState } from '../../core/recorder.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { TurnKey } from './events.ts'
import { readText, textColumn, wellFormedJson } from './columns.ts'
import { searchableText } from './search.ts'

export interface TurnEnd {
  readonly state: Exclude<TurnState, 'open' | 'waiting'>
  readonly endedAt: number
  readonly latencyMs: number
  readonly text: string
  readonly usage: Usage
  readonly costUsd: number | null
  readonly finishReason: string | null
  readonly error?: ErrorInfo
  /** Absent: the model that the turn was opened with. */
  readonly model?: string
  /** Absent: the temperature that the turn was opened with. */
  readonly temperature?: number | null
  readonly metrics?: TurnMetrics
  /** Key of the message that holds the text, where it is kept there alone. */
  readonly textMessage?: number | undefined
}

/**
 * Part of the caller's transaction: fills the row, lets the turn be found by its words, and makes it the one that the next of its
 * session follows.
 */
export function endTurn(connection: Connection, turn: TurnKey, end: TurnEnd): void {
  const { usage } = end
  const text = end.text.toWellFormed()
  connection.run(
    `UPDATE turns SET state = ?, ended_at = ?, latency_ms = ?, finish_reason = ?, cost_usd = ?, model = coalesce(?, model),
       temperature = iif(?, ?, temperature),
       input_tokens = ?, output_tokens = ?, total_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?,
       reasoning_tokens = ?, exactness = ?, error = ?, metrics = ?, text = ?, text_message = ?
     WHERE id = ?`,
    [
      end.state,
      end.endedAt,
      end.latencyMs,
      end.finishReason,
      end.costUsd,
      end.model ?? null,
      end.temperature === undefined ? 0 : 1,
      end.temperature ?? null,
      usage.inputTokens,
      usage.outputTokens,
      usage.totalTokens,
      usage.cacheReadTokens,
      usage.cacheWriteTokens,
      usage.cacheWrite1hTokens ?? null,
      usage.reasoningTokens,
      usage.exactness,
      jsonOrNull(end.error),
      jsonOrNull(end.metrics),
      end.textMessage === undefined ? text : '',
      end.textMessage ?? null,
      turn.key,
    ],
  )
  if (end.finishReason === 'waiting')
    connection.run('INSERT INTO waiting (turn, session_id) VALUES (?, ?)', [turn.key, turn.sessionId])
  const row = connection.get<{ exclusive: number; question: Uint8Array }>(
    `SELECT exclusive, ${textColumn('question')} FROM turns WHERE id = ?`,
    [turn.key],
  )
  if (row?.exclusive === 1) {
    connection.run('UPDATE sessions SET head_turn_id = ? WHERE session_id = ?', [turn.turnId, turn.sessionId])
  }
  connection.run('INSERT INTO turn_search (rowid, question, answer) VALUES (?, ?, ?)', [
    turn.key,
    searchableText(row === undefined ? '' : readText(row.question)),
    searchableText(text),
  ])
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : wellFormedJson(value)
}
