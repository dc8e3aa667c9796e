/** Updates the accounts of sessions, days, users and tags, as part of the caller's transaction. */

import type { Amount, BudgetKey, BudgetUse, SharedUse } from '../../core/budget.ts'
import { dayOf, NOTHING } from '../../core/budget.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { OpenTurn, TurnKey } from './journal.ts'

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
