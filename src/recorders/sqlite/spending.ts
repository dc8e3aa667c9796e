/** The accounts of sessions, days, users and tags, as parts of other transactions. */

import type { Amount, BudgetKey, BudgetUse, SharedUse } from '../../core/budget.ts'
import { dayOf, NOTHING } from '../../core/budget.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { OpenTurn, TurnKey } from './journal.ts'

/** What a turn used, as far as that is known. */
interface Used {
  readonly usage: Usage
  readonly costUsd: number | null
}

/** Part of the transaction that closes a turn: what it used beyond what was counted request by request. */
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

/** Notes in the row of an open turn what its requests have used so far: its process may not live to close it. */
export function noteSettled(connection: Connection, turn: number, { tokens, costUsd }: Amount): void {
  connection.run(
    `UPDATE turns SET total_tokens = coalesce(total_tokens, 0) + ?, cost_usd = coalesce(cost_usd, 0) + ? WHERE id = ? AND state = 'open'`,
    [tokens, costUsd, turn],
  )
}

/**
 * Part of the transaction that ends a lost turn: counts in the accounts what its row will say, so that budgets and statistics agree. What its steps
 * reported is compared with what was settled request by request, failed attempts included; the request under way had probably left, and its input is
 * paid for. The rest of the reservation is free again.
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

/** What nobody reported counts as input: of a request that was cut off that is known best. */
function withInput(usage: Usage, more: number): Usage {
  if (more === 0) return usage
  const [inputTokens, outputTokens] = [(usage.inputTokens ?? 0) + more, usage.outputTokens ?? 0]
  return { ...usage, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, exactness: 'estimated' }
}

/** Where what is settled stands (with the name as the only parameter but for the day), and which reservations count. */
const ACCOUNTS = {
  session: [`spending WHERE scope = 'session' AND name = ?`, 'WHERE session_id = ?'],
  day: [`spending WHERE scope = 'day' AND name = ?`, 'WHERE day = ?'],
  user: [
    `accounts WHERE scope = 'user' AND name = ? AND day = ?`,
    'JOIN sessions USING (session_id) WHERE user_id = ? AND day = ?',
  ],
  tag: [`accounts WHERE scope = 'tag' AND name = ? AND day = ?`, 'JOIN turn_tags USING (turn) WHERE tag = ? AND day = ?'],
} as const

/** What has been used of the accounts that a turn shares with others. */
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

/** Counts with the day, and with the session, the user and the tags of the turn as far as they have not been deleted. */
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
