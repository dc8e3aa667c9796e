/** Use and cost, from the sums that the file keeps: by day and model, and by session. */

import type { SessionStats, StatsRow } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

/** Turns that have not ended yet count as turns of which nobody knows what they used. */
const OPEN = 'SELECT session_id, started_at, model FROM leases CROSS JOIN turns ON turns.id = leases.turn'

const COLUMNS = `sum(turns) AS turns, sum(unfinished) AS unfinished, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
  sum(unknown_usage) AS unknownUsage, sum(cost_usd) AS costUsd, sum(unknown_cost) AS unknownCost`

/** Takes time linear in days and models, not in turns. */
export function readStats(connection: Connection): StatsRow[] {
  const rows = connection.all<StatsRow>(
    `SELECT name AS day, model, ${COLUMNS}
     FROM (
       SELECT name, model, turns, unfinished, input_tokens, output_tokens, unknown_usage, cost_usd, unknown_cost
       FROM use_sums WHERE scope = 'day'
       UNION ALL
       SELECT strftime('%Y-%m-%d', started_at / 1000, 'unixepoch'), model, 1, 0, 0, 0, 1, 0, 1 FROM (${OPEN})
     ) GROUP BY name, model ORDER BY name DESC, model`,
  )
  return rows.map((row) => ({ ...row }))
}

/** The session with the newest turn first. */
export function readSessionStats(connection: Connection, limit: number): SessionStats[] {
  const rows = connection.all<SessionStats>(
    `SELECT sessionId, startedAt, lastTurnAt, ${COLUMNS}
     FROM (
       SELECT session_id AS sessionId, created_at AS startedAt, last_turn_at AS lastTurnAt
       FROM sessions WHERE last_turn_at IS NOT NULL ORDER BY last_turn_at DESC, session_id LIMIT ?
     ) JOIN (
       SELECT name, turns, unfinished, input_tokens, output_tokens, unknown_usage, cost_usd, unknown_cost
       FROM use_sums WHERE scope = 'session'
       UNION ALL
       SELECT session_id, 1, 0, 0, 0, 1, 0, 1 FROM (${OPEN})
     ) ON name = sessionId
     GROUP BY sessionId ORDER BY lastTurnAt DESC, sessionId`,
    [limit],
  )
  return rows.map((row) => ({ ...row }))
}
