/** Budgets that end with the process: for turns that are written down nowhere, or in a journal that keeps none. */

import { NOTHING, SHARED_SCOPES } from '../core/budget.ts'
import type { Amount, BudgetKey, BudgetStore, BudgetUse, Reservation, SharedScope } from '../core/budget.ts'
import { Recent } from '../util/recent.ts'

/** Sessions and days that are remembered; those that were not used for longest are forgotten first. */
const MOST_ACCOUNTS = 10_000

interface Held {
  readonly key: BudgetKey
  readonly most: Amount
}

export class MemoryBudget implements BudgetStore {
  readonly #settled = new Recent<Amount>(MOST_ACCOUNTS)
  readonly #held = new Map<string, Held>()

  reserve(key: BudgetKey, plan: (used: Readonly<Record<SharedScope, BudgetUse>>) => Reservation): void {
    const { most } = plan({ session: this.#use('session', key), day: this.#use('day', key) })
    this.#held.set(key.turnId, { key, most })
  }

  settle(key: BudgetKey, used: Amount): void {
    this.#held.delete(key.turnId)
    for (const scope of SHARED_SCOPES) {
      const name = nameOf(scope, key)
      this.#settled.set(name, sumOf(this.#settled.get(name) ?? NOTHING, used))
    }
  }

  #use(scope: SharedScope, key: BudgetKey): BudgetUse {
    const name = nameOf(scope, key)
    let reserved = NOTHING
    for (const held of this.#held.values()) {
      if (held.key.turnId !== key.turnId && nameOf(scope, held.key) === name) reserved = sumOf(reserved, held.most)
    }
    return { settled: this.#settled.get(name) ?? NOTHING, reserved }
  }
}

let shared: MemoryBudget | undefined

/** The one of this process. */
export function processBudget(): BudgetStore {
  return (shared ??= new MemoryBudget())
}

export function sumOf(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd }
}

function nameOf(scope: SharedScope, key: BudgetKey): string {
  return scope === 'day' ? `day ${key.day}` : `session ${key.sessionId}`
}
