/** Types the account of a budget: its owner, its limit and its use. */

import type { BudgetLimits, BudgetUse } from '../core/budget.ts'

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
