/** In-memory budgets of this process: for turns without a journal, or with one that does not keep budgets. */

import { NOTHING } from '../../core/budget.ts'
import type { Amount, BudgetKey, BudgetStore, BudgetUse, Reservation, SharedUse } from '../../core/budget.ts'
import { Recent } from '../../util/recent.ts'

/** Maximum number of accounts; the least recently used are dropped first. */
const MOST_ACCOUNTS = 10_000

interface Held {
  readonly key: BudgetKey
  readonly most: Amount
}

export class MemoryBudget implements BudgetStore {
  readonly #settled = new Recent<Amount>(MOST_ACCOUNTS)
  readonly #held = new Map<string, Held>()

  reserve(key: BudgetKey, plan: (used: SharedUse) => Reservation): void {
    const { userId, tags } = key
    const { most } = plan({
      session: this.#use(key, `session ${key.sessionId}`),
      day: this.#use(key, `day ${key.day}`),
      ...(userId === undefined ? {} : { user: this.#use(key, userAccount(key.day, userId)) }),
      ...(tags === undefined
        ? {}
        : { tags: Object.fromEntries(tags.map((tag) => [tag, this.#use(key, tagAccount(key.day, tag))])) }),
    })
    this.#held.set(key.turnId, { key, most })
  }

  settle(key: BudgetKey, used: Amount): void {
    this.#held.delete(key.turnId)
    for (const name of accountsOf(key)) this.#settled.set(name, sumOf(this.#settled.get(name) ?? NOTHING, used))
  }

  #use({ turnId }: BudgetKey, name: string): BudgetUse {
    let reserved = NOTHING
    for (const held of this.#held.values()) {
      if (held.key.turnId !== turnId && accountsOf(held.key).includes(name)) reserved = sumOf(reserved, held.most)
    }
    return { settled: this.#settled.get(name) ?? NOTHING, reserved }
  }
}

let shared: MemoryBudget | undefined

/** Returns the budget store shared by this process. */
export function processBudget(): BudgetStore {
  return (shared ??= new MemoryBudget())
}

export function sumOf(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd }
}

/** Returns the names of all accounts that a turn counts towards. */
function accountsOf({ sessionId, day, userId, tags = [] }: BudgetKey): string[] {
  const user = userId === undefined ? [] : [userAccount(day, userId)]
  return [`session ${sessionId}`, `day ${day}`, ...user, ...tags.map((tag) => tagAccount(day, tag))]
}

function userAccount(day: string, userId: string): string {
  return `user ${day} ${userId}`
}

function tagAccount(day: string, tag: string): string {
  return `tag ${day} ${tag}`
}
