/** Reads use and cost by day, session, user, tag and prompt version, and of selected turns, from the sums stored in the file. */

import type { SQLInputValue } from 'node:sqlite'
import type { PromptStats, SessionStats, StatsRow, TagStats, TurnFilter, UserStats } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { DEFAULT_LIMIT } from '../rules.ts'
import { readText, textColumn } from './columns.ts'
import { allOf, conditionsOf } from './lists.ts'
import { sumsOf } from './schema.ts'

/** Counts each open turn as a turn of unknown use. */
const OPEN = 'SELECT session_id, started_at, model FROM leases CROSS JOIN turns ON turns.id = leases.turn'

const SUMS = 'turns, unfinished, input_tokens, output_tokens, unknown_usage, cost_usd, unknown_cost'

/** Sums over rows of `use_sums`. */
const COLUMNS = `sum(turns) AS turns, sum(unfinished) AS unfinished, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
  sum(unknown_usage) AS unknownUsage, sum(cost_usd) AS costUsd, sum(unknown_cost) AS unknownCost`

/** Sums over rows of `turns`, which an outer join may leave empty. */
const OF_TURNS = `count(turns.id) AS turns, count(*) FILTER (WHERE state NOT IN ('done', 'open')) AS unfinished,
  coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
  count(*) FILTER (WHERE exactness = 'unknown') AS unknownUsage, coalesce(sum(cost_usd), 0.0) AS costUsd,
  count(turns.id) - count(cost_usd) AS unknownCost`

const BY_SESSION = `
  SELECT name, ${SUMS} FROM use_sums WHERE scope = 'session'
  UNION ALL
  SELECT session_id, 1, 0, 0, 0, 1, 0, 1 FROM (${OPEN})`

/** Takes time linear in days and models, not in turns; with a filter, linear in the selected turns. */
export function readStats(connection: Connection, filter: TurnFilter = {}): StatsRow[] {
  const { sql, values } = allOf(conditionsOf(filter))
  const isAll = values.length === 0
  const chosen = `WITH chosen (scope, name, model, ${SUMS}, parts) AS (${sumsOf(`state <> 'open' AND ${sql}`)})`
  return all<StatsRow>(
    connection,
    `${isAll ? '' : chosen} SELECT name AS day, model, ${COLUMNS}
     FROM (
       SELECT name, model, ${SUMS} FROM ${isAll ? 'use_sums' : 'chosen'} WHERE scope = 'day'
       UNION ALL
       SELECT strftime('%Y-%m-%d', started_at / 1000, 'unixepoch'), model, 1, 0, 0, 0, 1, 0, 1 FROM (${OPEN} WHERE ${sql})
     ) GROUP BY name, model ORDER BY name DESC, model`,
    // The conditions occur three times.
    [...values, ...values, ...values],
  )
}

/** Returns the session with the newest turn first. */
export function readSessionStats(connection: Connection, limit: number = DEFAULT_LIMIT, filter: TurnFilter = {}): SessionStats[] {
  const { sql, values } = allOf(conditionsOf(filter))
  const chosen = values.length === 0 ? '' : `AND session_id IN (SELECT session_id FROM turns WHERE ${sql})`
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
export function readUserStats(connection: Connection, limit: number = DEFAULT_LIMIT): UserStats[] {
  return all<UserStats>(
    connection,
    `SELECT user_id AS userId, count(DISTINCT session_id) AS sessions, max(last_turn_at) AS lastTurnAt, ${COLUMNS}
     FROM sessions JOIN (${BY_SESSION}) ON name = session_id
     WHERE user_id IS NOT NULL GROUP BY user_id ORDER BY lastTurnAt DESC, user_id LIMIT ?`,
    [limit],
  )
}

/** Takes time linear in the turns that have tags. */
export function readTagStats(connection: Connection, limit: number = DEFAULT_LIMIT): TagStats[] {
  return all<TagStats>(
    connection,
    `SELECT tag, max(started_at) AS lastTurnAt, ${OF_TURNS}
     FROM turn_tags CROSS JOIN turns ON turns.id = turn GROUP BY tag ORDER BY tag LIMIT ?`,
    [limit],
  )
}

type StoredPromptStats = Omit<PromptStats, 'template' | 'ratings'> & {
  readonly template: Uint8Array | null
  readonly ratings: string
}

/** Takes time linear in the turns of the selected prompts. */
export function readPromptStats(connection: Connection, name?: string): PromptStats[] {
  const rows = connection.all<StoredPromptStats>(
    `SELECT prompts.bot AS name, prompts.hash AS hash, version, ${textColumn('template')}, first_used_at AS firstUsedAt,
       max(started_at) AS lastUsedAt, ${OF_TURNS}, json_group_array(rating) FILTER (WHERE rating IS NOT NULL) AS ratings
     FROM prompts
     LEFT JOIN turn_prompts ON turn_prompts.name = prompts.bot AND turn_prompts.hash = prompts.hash
     LEFT JOIN turns ON turns.id = turn
     WHERE ?1 IS NULL OR prompts.bot = ?1
     GROUP BY prompts.bot, prompts.hash ORDER BY prompts.bot, version`,
    [name ?? null],
  )
  return rows.map(({ template, ratings, ...row }) => ({
    ...row,
    template: template === null ? null : readText(template),
    ratings: countsOf(JSON.parse(ratings) as readonly number[]),
  }))
}

function countsOf(ratings: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const rating of ratings) counts[rating] = (counts[rating] ?? 0) + 1
  return counts
}

/** Returns plain objects: those of `node:sqlite` have no prototype. */
function all<Row extends object>(connection: Connection, sql: string, values: readonly SQLInputValue[]): Row[] {
  return connection.all<Row>(sql, values).map((row) => ({ ...row }))
}
