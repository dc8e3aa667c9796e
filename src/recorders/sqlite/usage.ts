/**
 * Adds up what turns use: updates the accounts of sessions, days, users and tags with each turn, as part of the caller's transaction, and reads
 * statistics by day, session, user, tag and prompt version from sums stored in the file.
 */

import type { SQLInputValue } from 'node:sqlite'
import type { Amount, BudgetKey, BudgetUse, SharedUse } from '../../core/budget.ts'
import { dayOf, NOTHING } from '../../core/budget.ts'
import type { PromptStats, SessionStats, StatsRow, TagStats, TurnFilter, UserStats } from '../../core/recorder.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { DEFAULT_LIMIT } from '../rules.ts'
import { readText, textColumn } from './columns.ts'
import type { OpenTurn, TurnKey } from './journal.ts'
import { allOf, conditionsOf } from './lists.ts'
import { sumsOf } from './schema.ts'

/** The known use of a turn. */
interface Used {
  readonly usage: Usage
  readonly costUsd: number | null
}

/** Counts the use of a turn that was not counted request by request; part of the transaction that closes it. */
export function countTurn(
  connection: Connection,
  turn: OpenTurn,
  { endedAt, usage, costUsd }: Used & { readonly endedAt: number },
): void {
  const used = {
    tokens: Math.max(0, tokensOf(usage) - turn.counted.tokens),
    costUsd: Math.max(0, (costUsd ?? 0) - turn.counted.costUsd),
  }
  spend(connection, { ...turn, day: dayOf(endedAt) }, used)
}

/** Stores in the row of an open turn what its requests have used so far, in case its process dies. */
export function noteSettled(connection: Connection, turn: number, { tokens, costUsd }: Amount): void {
  connection.run(
    `UPDATE turns SET total_tokens = coalesce(total_tokens, 0) + ?, cost_usd = coalesce(cost_usd, 0) + ? WHERE id = ? AND state = 'open'`,
    [tokens, costUsd, turn],
  )
}

/**
 * Counts a lost turn in the accounts with the same numbers as in its row, so that budgets and statistics agree; part of the transaction that ends
 * it. Takes the larger of what its steps reported and what was settled per request, failed attempts included. Adds the input of the request under
 * way, which was probably sent, and releases the rest of the reservation.
 */
export function countLostTurn(connection: Connection, turn: TurnKey, ending: Used & { readonly endedAt: number }): Used {
  const noted = 'SELECT coalesce(total_tokens, 0) AS tokens, coalesce(cost_usd, 0) AS costUsd FROM turns WHERE id = ?'
  const counted = connection.get<Amount>(noted, [turn.key]) ?? NOTHING
  const reserved = connection.get<Amount & { day: string }>(
    'SELECT day, least_tokens AS tokens, least_cost_usd AS costUsd FROM reservations WHERE turn = ?',
    [turn.key],
  )
  connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
  const left = reserved ?? NOTHING
  const reported = tokensOf(ending.usage)
  const tokens = Math.max(reported, counted.tokens) + left.tokens
  const costUsd = Math.max(ending.costUsd ?? 0, counted.costUsd) + left.costUsd
  const day = reserved?.day ?? dayOf(ending.endedAt)
  spend(connection, { ...turn, day }, { tokens: tokens - counted.tokens, costUsd: costUsd - counted.costUsd })
  const isKnown = ending.costUsd !== null || costUsd > 0
  return { usage: withInput(ending.usage, tokens - reported), costUsd: isKnown ? costUsd : null }
}

/** Counts unreported tokens as input, the best-known part of an interrupted request. */
function withInput(usage: Usage, more: number): Usage {
  if (more === 0) return usage
  const [inputTokens, outputTokens] = [(usage.inputTokens ?? 0) + more, usage.outputTokens ?? 0]
  return { ...usage, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, exactness: 'estimated' }
}

/** By account: where settled use is stored (parameters: the name, and the day), and which reservations count. */
const ACCOUNTS = {
  session: [`spending WHERE scope = 'session' AND name = ?`, 'WHERE session_id = ?'],
  day: [`spending WHERE scope = 'day' AND name = ?`, 'WHERE day = ?'],
  user: [
    `accounts WHERE scope = 'user' AND name = ? AND day = ?`,
    'JOIN sessions USING (session_id) WHERE user_id = ? AND day = ?',
  ],
  tag: [`accounts WHERE scope = 'tag' AND name = ? AND day = ?`, 'JOIN turn_tags USING (turn) WHERE tag = ? AND day = ?'],
} as const

/** Returns the use of the accounts that a turn shares with others. */
export function sharedUse(connection: Connection, { sessionId, day, userId, tags }: BudgetKey): SharedUse {
  const useOf = (scope: keyof typeof ACCOUNTS, ...names: readonly string[]): BudgetUse => {
    const [settled, reserved] = ACCOUNTS[scope]
    const sums = 'coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS costUsd'
    const sum = (from: string): Amount => ({ ...NOTHING, ...connection.get<Amount>(`SELECT ${sums} FROM ${from}`, names) })
    return { settled: sum(settled), reserved: sum(`reservations ${reserved}`) }
  }
  return {
    session: useOf('session', sessionId),
    day: useOf('day', day),
    ...(userId === undefined ? {} : { user: useOf('user', userId, day) }),
    ...(tags === undefined ? {} : { tags: Object.fromEntries(tags.map((tag) => [tag, useOf('tag', tag, day)])) }),
  }
}

/** Adds to the day, and to the session, user and tags of the turn unless they were deleted. */
export function spend(
  connection: Connection,
  { turnId, sessionId, day }: Pick<BudgetKey, 'turnId' | 'sessionId' | 'day'>,
  { tokens, costUsd }: Amount,
): void {
  if (tokens === 0 && costUsd === 0) return
  const add = (into: string, select: string, names: readonly string[]): void => {
    connection.run(
      `INSERT INTO ${into} ${select} ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, cost_usd = cost_usd + excluded.cost_usd`,
      [tokens, costUsd, ...names],
    )
  }
  const session = 'FROM sessions WHERE session_id = ?3'
  const tags = 'FROM turn_tags WHERE turn = (SELECT id FROM turns WHERE turn_id = ?3)'
  add('spending', `SELECT 'day', ?3, ?1, ?2 WHERE TRUE`, [day])
  add('spending', `SELECT 'session', session_id, ?1, ?2 ${session}`, [sessionId])
  add('accounts', `SELECT 'user', user_id, ?4, ?1, ?2 ${session} AND user_id IS NOT NULL`, [sessionId, day])
  add('accounts', `SELECT 'tag', tag, ?4, ?1, ?2 ${tags}`, [turnId, day])
}

function tokensOf({ inputTokens, outputTokens, totalTokens }: Usage): number {
  return inputTokens !== null && outputTokens !== null ? inputTokens + outputTokens : (totalTokens ?? 0)
}

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
