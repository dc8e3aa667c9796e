/** The accounts of sessions, days, users and tags, as parts of other transactions. */

import type { Amount, BudgetKey, BudgetUse, SharedUse } from '../../core/budget.ts'
import { dayOf, NOTHING } from '../../core/budget.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { OpenTurn } from './journal.ts'

/** Part of the transaction that closes a turn: what it used beyond what was counted request by request. */
export function countTurn(
  connection: Connection,
  turn: OpenTurn,
  { endedAt, usage, costUsd }: { readonly endedAt: number; readonly usage: Usage; readonly costUsd: number | null },
): void {
  const used = {
    tokens: Math.max(0, tokensOf(usage) - turn.counted.tokens),
    costUsd: Math.max(0, (costUsd ?? 0) - turn.counted.costUsd),
  }
  spend(connection, { ...turn, day: dayOf(endedAt) }, used)
}

/** Part of the transaction that ends a lost turn: its request had probably left, and what went in is paid for. The rest is free again. */
export function releaseReservation(connection: Connection, turn: number): void {
  const row = connection.get<{ turnId: string; sessionId: string; day: string; tokens: number; costUsd: number }>(
    `SELECT turn_id AS turnId, reservations.session_id AS sessionId, day, least_tokens AS tokens, least_cost_usd AS costUsd
     FROM reservations JOIN turns ON turns.id = turn WHERE turn = ?`,
    [turn],
  )
  if (row === undefined) return
  connection.run('DELETE FROM reservations WHERE turn = ?', [turn])
  spend(connection, row, row)
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
  add('spending', `SELECT 'day', ?3, ?1, ?2 WHERE TRUE`, [day])
  add('spending', `SELECT 'session', session_id, ?1, ?2 FROM sessions WHERE session_id = ?3`, [sessionId])
  add('accounts', `SELECT 'user', user_id, ?4, ?1, ?2 FROM sessions WHERE session_id = ?3 AND user_id IS NOT NULL`, [
    sessionId,
    day,
  ])
  add('accounts', `SELECT 'tag', tag, ?4, ?1, ?2 FROM turn_tags WHERE turn = (SELECT id FROM turns WHERE turn_id = ?3)`, [
    turnId,
    day,
  ])
}

function tokensOf({ inputTokens, outputTokens, totalTokens }: Usage): number {
  return inputTokens !== null && outputTokens !== null ? inputTokens + outputTokens : (totalTokens ?? 0)
}
