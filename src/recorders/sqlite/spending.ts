/** The accounts of sessions and days, as parts of other transactions. */

import type { Amount, BudgetKey, BudgetUse, SharedScope } from '../../core/budget.ts'
import { dayOf, NOTHING, SHARED_SCOPES } from '../../core/budget.ts'
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
export function countLostTurn(
  connection: Connection,
  turn: { readonly key: number; readonly sessionId: string },
  ending: { readonly endedAt: number; readonly usage: Usage; readonly costUsd: number | null },
): { readonly usage: Usage; readonly costUsd: number | null } {
  const row = connection.get<Amount>(
    'SELECT coalesce(total_tokens, 0) AS tokens, coalesce(cost_usd, 0) AS costUsd FROM turns WHERE id = ?',
    [turn.key],
  )
  const reserved = connection.get<Amount & { day: string }>(
    'SELECT day, least_tokens AS tokens, least_cost_usd AS costUsd FROM reservations WHERE turn = ?',
    [turn.key],
  )
  connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
  const counted = row ?? NOTHING
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
