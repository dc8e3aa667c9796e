/** Types the account of a budget: its owner, its limit and its use. */

import type { BudgetLimits, BudgetUse } from '../core/budget.ts'

export type BudgetScope = 'turn' | 'session' | 'day'

/** A budget and what has been used of it. */
export interface Account extends BudgetUse {
  readonly scope: BudgetScope
  readonly limits: BudgetLimits
}

export function isLimited(limits: BudgetLimits | undefined): boolean {
  return limits?.tokens !== undefined || limits?.costUsd !== undefined
}
