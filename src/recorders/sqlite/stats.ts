/** Use and cost, from the sums that the file keeps by day and session; by user, by tag, and of chosen turns. */

import type { SQLInputValue } from 'node:sqlite'
import type { SessionStats, StatsRow, TagStats, TurnFilter, UserStats } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { conditionsOf } from './search.ts'
import { sumsOf } from './schema.ts'

/** Turns that have not ended yet count as turns of which nobody knows what they used. */
const OPEN = 'SELECT session_id, started_at, model FROM leases CROSS JOIN turns ON turns.id = leases.turn'

const SUMS = 'turns, unfinished, input_tokens, output_tokens, unknown_usage, cost_usd, unknown_cost'

const COLUMNS = `sum(turns) AS turns, sum(unfinished) AS unfinished, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
  sum(unknown_usage) AS unknownUsage, sum(cost_usd) AS costUsd, sum(unknown_cost) AS unknownCost`

const BY_SESSION = `
  SELECT name, ${SUMS} FROM use_sums WHERE scope = 'session'
  UNION ALL
  SELECT session_id, 1, 0, 0, 0, 1, 0, 1 FROM (${OPEN})`

/** Takes time linear in days and models, not in turns; with a filter, in the turns that it chooses. */
export function readStats(connection: Connection, filter: TurnFilter = {}): StatsRow[] {
  const { conditions, values } = conditionsOf(filter)
  const ended =
    conditions.length === 0
      ? `SELECT name, model, ${SUMS} FROM use_sums WHERE scope = 'day'`
      : `SELECT name, model, ${SUMS} FROM chosen WHERE scope = 'day'`
  const chosen = `WITH chosen (scope, name, model, ${SUMS}, parts) AS (${sumsOf(["state <> 'open'", ...conditions].join(' AND '))})`
  const open = [OPEN, ...(conditions.length === 0 ? [] : [`WHERE ${conditions.join(' AND ')}`])].join(' ')
  return all<StatsRow>(
    connection,
    `${conditions.length === 0 ? '' : chosen} SELECT name AS day, model, ${COLUMNS}
     FROM (
       ${ended}
       UNION ALL
       SELECT strftime('%Y-%m-%d', started_at / 1000, 'unixepoch'), model, 1, 0, 0, 0, 1, 0, 1 FROM (${open})
     ) GROUP BY name, model ORDER BY name DESC, model`,
    // The conditions stand there three times.
    [...values, ...values, ...values],
  )
}

/** The session with the newest turn first. */
export function readSessionStats(connection: Connection, limit: number, filter: TurnFilter = {}): SessionStats[] {
  const { conditions, values } = conditionsOf(filter)
  const chosen =
    conditions.length === 0 ? '' : `AND session_id IN (SELECT session_id FROM turns WHERE ${conditions.join(' AND ')})`
  return all<SessionStats>(
    connection,
    `SELECT sessionId, userId, startedAt, lastTurnAt, ${COLUMNS}
     FROM (
       SELECT session_id AS sessionId, user_id AS userId, created_at AS startedAt, last_turn_at AS lastTurnAt
       FROM sessions WHERE last_turn_at IS NOT NULL ${chosen} ORDER BY last_turn_at DESC, session_id LIMIT ?
     ) JOIN (${BY_SESSION}) ON name = sessionId
     GROUP BY sessionId ORDER BY lastTurnAt DESC, sessionId`,
    [...values, limit],
  )
}

/** Takes time linear in the sessions that have a user. */
export function readUserStats(connection: Connection, limit: number): UserStats[] {
  return all<UserStats>(
    connection,
    `SELECT user_id AS userId, count(DISTINCT session_id) AS sessions, max(last_turn_at) AS lastTurnAt, ${COLUMNS}
     FROM sessions JOIN (${BY_SESSION}) ON name = session_id
     WHERE user_id IS NOT NULL GROUP BY user_id ORDER BY lastTurnAt DESC, user_id LIMIT ?`,
    [limit],
  )
}

/** Takes time linear in the turns that have tags. */
export function readTagStats(connection: Connection, limit: number): TagStats[] {
  return all<TagStats>(
    connection,
    `SELECT tag, max(started_at) AS lastTurnAt, count(*) AS turns, sum(state NOT IN ('done', 'open')) AS unfinished,
       coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
       sum(exactness = 'unknown') AS unknownUsage, coalesce(sum(cost_usd), 0.0) AS costUsd, sum(cost_usd IS NULL) AS unknownCost
     FROM turn_tags CROSS JOIN turns ON turns.id = turn GROUP BY tag ORDER BY tag LIMIT ?`,
    [limit],
  )
}

/** Plain objects: those of `node:sqlite` have no prototype. */
function all<Row extends object>(connection: Connection, sql: string, values: readonly SQLInputValue[]): Row[] {
  return connection.all<Row>(sql, values).map((row) => ({ ...row }))
}
