/** What a budget is about: whose it is, what it allows and what has been used of it. */

import type { BudgetLimits, BudgetUse } from '../core/budget.ts'

export type BudgetScope = 'turn' | 'session' | 'day' | 'user' | 'tag'

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
