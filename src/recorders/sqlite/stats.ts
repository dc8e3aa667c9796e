import type { StatsRow } from '../../core/recorder.ts'
import type { Connection } from './connection.ts'

/** Use and cost by day and model. */
export function readStats(connection: Connection): StatsRow[] {
  const rows = connection.all<StatsRow>(
    `SELECT strftime('%Y-%m-%d', started_at / 1000, 'unixepoch') AS day, model, count(*) AS turns,
       count(*) FILTER (WHERE state NOT IN ('done', 'open')) AS unfinished,
       coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
       count(*) FILTER (WHERE exactness = 'unknown') AS unknownUsage,
       coalesce(sum(cost_usd), 0) AS costUsd, count(*) FILTER (WHERE cost_usd IS NULL) AS unknownCost
     FROM turns GROUP BY day, model ORDER BY day DESC, model`,
  )
  return rows.map((row) => ({ ...row }))
}
