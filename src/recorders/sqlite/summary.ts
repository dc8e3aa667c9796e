/** Rows of turns as those who read the journal get them. */

import type { ErrorInfo } from '../../core/error.ts'
import type { TurnMetrics, TurnRow, TurnState, TurnSummary } from '../../core/recorder.ts'
import type { Usage } from '../../core/usage.ts'
import { botOf, readRow, readText, textColumn } from './columns.ts'
import type { Damage } from './columns.ts'

export interface StoredSummary {
  readonly id: number
  readonly turn_id: string
  readonly session_id: string
  readonly state: TurnState
  readonly model: string
  readonly bot_kind: string | null
  readonly bot_name: string | null
  readonly question: Uint8Array
  readonly started_at: number
  readonly latency_ms: number | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly total_tokens: number | null
  readonly cache_read_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly cache_write_1h_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly exactness: Usage['exactness']
  readonly cost_usd: number | null
  readonly rating: number | null
  readonly user_id: string | null
  /** JSON. */
  readonly tags: string
}

export interface StoredTurn extends StoredSummary {
  readonly parent_turn_id: string | null
  readonly text: Uint8Array
  readonly temperature: number | null
  readonly prompt_hash: string | null
  readonly trace_id: string
  readonly span_id: string
  readonly ended_at: number | null
  readonly finish_reason: string | null
  readonly rating_comment: Uint8Array | null
  readonly error: string | null
  readonly metrics: string | null
  readonly text_message: number | null
}

export const SUMMARY_COLUMNS: string = `id, turn_id, session_id, iif(EXISTS (SELECT 1 FROM waiting WHERE turn = turns.id), 'waiting', state) AS state, model, bot_kind, bot_name, ${textColumn('question')}, started_at, latency_ms,
  input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, exactness, cost_usd,
  rating, (SELECT user_id FROM sessions WHERE sessions.session_id = turns.session_id) AS user_id,
  (SELECT json_group_array(tag) FROM turn_tags WHERE turn = turns.id) AS tags`

/** All that `StoredTurn` has. */
export const TURN_COLUMNS: string = `${SUMMARY_COLUMNS}, parent_turn_id, temperature, prompt_hash, trace_id, span_id, ended_at, finish_reason, error,
  metrics, text_message, ${textColumn('text')}, ${textColumn('rating_comment')}`

export function toSummary(row: StoredSummary): TurnSummary {
  return {
    turnId: row.turn_id,
    sessionId: row.session_id,
    status: row.state,
    bot: botOf(row.bot_kind, row.bot_name),
    model: row.model,
    question: readText(row.question),
    startedAt: row.started_at,
    latencyMs: row.latency_ms,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      totalTokens: row.total_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
      ...(row.cache_write_1h_tokens === null ? {} : { cacheWrite1hTokens: row.cache_write_1h_tokens }),
      reasoningTokens: row.reasoning_tokens,
      exactness: row.exactness,
    },
    costUsd: row.cost_usd,
    rating: row.rating,
    userId: row.user_id,
    tags: JSON.parse(row.tags) as string[],
  }
}

/** @param textOf gives the text of the message with this key. */
export function toTurnRow(row: StoredTurn, damage: Damage, textOf: (message: number) => string): TurnRow {
  const { text_message: holder } = row
  return {
    ...toSummary(row),
    text: holder === null ? readText(row.text) : (readRow('its text', damage, () => textOf(holder)) ?? ''),
    temperature: row.temperature,
    promptHash: row.prompt_hash,
    parentTurnId: row.parent_turn_id,
    traceId: row.trace_id,
    spanId: row.span_id,
    endedAt: row.ended_at,
    finishReason: row.finish_reason,
    ratingComment: row.rating_comment === null ? null : readText(row.rating_comment),
    error: jsonOf<ErrorInfo>('its error', row.error, damage),
    metrics: jsonOf<TurnMetrics>('the row of its metrics', row.metrics, damage),
  }
}

function jsonOf<T>(what: string, json: string | null, damage: Damage): T | null {
  return json === null ? null : (readRow(what, damage, () => JSON.parse(json) as T) ?? null)
}
