import type { SessionStats, StatsRow } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

/**
 * Every turn once, under the model that gave its answer; what it used is divided among the models that were asked, where that was written
 * down, and else it is all the answering one's.
 */
const USES = `
  SELECT session_id, started_at, state, model, 1 AS turns, exactness = 'unknown' AS unknown_usage, cost_usd IS NULL AS unknown_cost,
    iif(divided, 0, input_tokens) AS input_tokens, iif(divided, 0, output_tokens) AS output_tokens, iif(divided, 0, cost_usd) AS cost_usd
  FROM (SELECT *, coalesce(json_array_length(metrics, '$.models'), 0) > 0 AS divided FROM turns)
  UNION ALL
  SELECT session_id, started_at, 'done', json_extract(used.value, '$.model'), 0, 0, 0,
    json_extract(used.value, '$.inputTokens'), json_extract(used.value, '$.outputTokens'), json_extract(used.value, '$.costUsd')
  FROM turns, json_each(turns.metrics, '$.models') AS used`

const SUMS = `sum(turns) AS turns, sum(turns AND state NOT IN ('done', 'open')) AS unfinished,
  coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens, sum(unknown_usage) AS unknownUsage,
  coalesce(sum(cost_usd), 0) AS costUsd, sum(unknown_cost) AS unknownCost`

/** Use and cost by day and model. */
export function readStats(connection: Connection): StatsRow[] {
  const rows = connection.all<StatsRow>(
    `SELECT strftime('%Y-%m-%d', started_at / 1000, 'unixepoch') AS day, model, ${SUMS}
     FROM (${USES}) GROUP BY day, model ORDER BY day DESC, model`,
  )
  return rows.map((row) => ({ ...row }))
}

/** Use and cost by session, the one with the newest turn first. */
export function readSessionStats(connection: Connection, limit: number): SessionStats[] {
  const rows = connection.all<SessionStats>(
    `SELECT session_id AS sessionId, min(started_at) AS startedAt, max(started_at) AS lastTurnAt, ${SUMS}
     FROM (${USES}) GROUP BY session_id ORDER BY lastTurnAt DESC, session_id LIMIT ?`,
    [limit],
  )
  return rows.map((row) => ({ ...row }))
}
