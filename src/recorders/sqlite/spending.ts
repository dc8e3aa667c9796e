/** The accounts of sessions and days, as parts of other transactions. */

import type { Amount, BudgetKey, BudgetUse, SharedScope } from '../../core/budget.ts'
import { dayOf, SHARED_SCOPES } from '../../core/budget.ts'
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
  const row = connection.get<{ sessionId: string; day: string; tokens: number; costUsd: number }>(
    `SELECT session_id AS sessionId, day, least_tokens AS tokens, least_cost_usd AS costUsd FROM reservations WHERE turn = ?`,
    [turn],
  )
  if (row === undefined) return
  connection.run('DELETE FROM reservations WHERE turn = ?', [turn])
  spend(connection, row, row)
}

const COLUMN = { session: 'session_id', day: 'day' } as const

/** What has been used of an account. */
export function useOf(connection: Connection, scope: SharedScope, key: Pick<BudgetKey, 'sessionId' | 'day'>): BudgetUse {
  const name = nameOf(scope, key)
  const settled = connection.get<Amount>('SELECT tokens, cost_usd AS costUsd FROM spending WHERE scope = ? AND name = ?', [
    scope,
    name,
  ])
  const reserved = connection.get<Amount>(
    `SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS costUsd FROM reservations WHERE ${COLUMN[scope]} = ?`,
    [name],
  )
  return {
    settled: { tokens: settled?.tokens ?? 0, costUsd: settled?.costUsd ?? 0 },
    reserved: { tokens: reserved?.tokens ?? 0, costUsd: reserved?.costUsd ?? 0 },
  }
}

export function spend(connection: Connection, key: Pick<BudgetKey, 'sessionId' | 'day'>, { tokens, costUsd }: Amount): void {
  if (tokens === 0 && costUsd === 0) return
  for (const scope of SHARED_SCOPES) {
    connection.run(
      `INSERT INTO spending (scope, name, tokens, cost_usd) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, cost_usd = cost_usd + excluded.cost_usd`,
      [scope, nameOf(scope, key), tokens, costUsd],
    )
  }
}

function nameOf(scope: SharedScope, { sessionId, day }: Pick<BudgetKey, 'sessionId' | 'day'>): string {
  return scope === 'day' ? day : sessionId
}

function tokensOf({ inputTokens, outputTokens, totalTokens }: Usage): number {
  return inputTokens !== null && outputTokens !== null ? inputTokens + outputTokens : (totalTokens ?? 0)
}
