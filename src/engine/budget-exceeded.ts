/** Writes the error of an exceeded budget: whose it is, where it went, and what was not done. */

import type { Amount, BudgetLimits, BudgetUse } from '../core/budget.ts'
import { CriaError } from '../core/error.ts'

function whose({ scope, name }: Pick<Account, 'scope' | 'name'>): string {
  const mark: Readonly<Record<BudgetScope, string>> = {
    turn: 'this turn',
    session: 'this session',
    day: 'today (UTC)',
    batch: 'these turns together',
    user: `user ${JSON.stringify(name)} for today (UTC)`,
    tag: `tag ${JSON.stringify(name)} for today (UTC)`,
  }
  return mark[scope]
}

/** A request that an account has no room for. @param needed what it takes at the least. */
export function exceeded(kind: keyof Amount, account: Account, needed: number): CriaError {
  const { scope, name, limits, settled, reserved } = account
  const limit = limits[kind] ?? 0
  const waiting = reserved[kind] > 0 ? `, ${inWords(kind, reserved[kind])} set aside for requests under way` : ''
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose(account)} is ${inWords(kind, limit)}: ${inWords(kind, settled[kind])} used so far${waiting}; the next ` +
      `request needs at least ${inWords(kind, needed)}. It was not made.`,
    {
      // What is set aside and not used is free again when its request ends.
      retryable: reserved[kind] > 0,
      details: {
        kind,
        scope,
        ...(name === undefined ? {} : { name }),
        limit,
        used: settled[kind],
        reserved: reserved[kind],
        needed,
      },
    },
  )
}

/** The turn, or the batch, has used up its time. */
export function timeExceeded(limit: number, scope: 'turn' | 'batch' = 'turn'): CriaError {
  const ended = scope === 'turn' ? 'the turn was' : 'those that ran were'
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose({ scope })} is ${limit} ms: they are over, and ${ended} ended.`,
    {
      details: { kind: 'ms', scope, limit, used: limit },
    },
  )
}

function inWords(kind: keyof Amount, value: number): string {
  if (kind === 'tokens') return `${value} tokens`
  if (value === 0 || value >= 1) return `$${value.toFixed(2)}`
  return `$${value.toLocaleString('en', { maximumSignificantDigits: 2 })}`
}

/** `batch`: turns that `mapTurns` makes. */
export type BudgetScope = 'turn' | 'session' | 'day' | 'user' | 'tag' | 'batch'

/** A budget and what has been used of it. */
export interface Account extends BudgetUse {
  readonly scope: BudgetScope
  readonly limits: BudgetLimits
  /** Of the user or the tag. */
  readonly name?: string
}

export function isLimited(limits: BudgetLimits | undefined): boolean {
  return limits?.tokens !== undefined || limits?.costUsd !== undefined
}
