/** Budgets of sessions and days, kept in the journal for all processes that share it. */

import type { Amount, BudgetKey, BudgetStore, Reservation, SharedUse } from '../../core/budget.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Patience } from '../../util/sqlite/patience.ts'
import type { Journal } from './journal.ts'
import { endUnheldTurns, renewLease } from './lease.ts'
import { noteSettled, sharedUse, spend } from './spending.ts'
import { heldTurn } from './turn.ts'

export class SqliteBudget implements BudgetStore {
  readonly #journal: Journal
  readonly #patience: Patience

  constructor(journal: Journal, patience: Patience) {
    this.#journal = journal
    this.#patience = patience
  }

  reserve(key: BudgetKey, plan: (used: SharedUse) => Reservation): MaybePromise<void> {
    return this.#patience.run(() => this.#reserve(key, plan))
  }

  #reserve(key: BudgetKey, plan: (used: SharedUse) => Reservation): void {
    const journal = this.#journal
    const { connection } = journal
    const turn = heldTurn(journal, key.turnId)
    endUnheldTurns(journal)
    connection.write(() => {
      renewLease(journal, turn)
      connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
      const { most, least } = plan(sharedUse(connection, key))
      connection.run(
        `INSERT INTO reservations (turn, session_id, day, tokens, cost_usd, least_tokens, least_cost_usd)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        [turn.key, key.sessionId, key.day, most.tokens, most.costUsd, least.tokens, least.costUsd],
      )
    })
  }

  /** Also after the turn was ended as lost: the money is spent. */
  settle(key: BudgetKey, used: Amount): MaybePromise<void> {
    return this.#patience.run(() => this.#settle(key, used))
  }

  #settle(key: BudgetKey, used: Amount): void {
    const { connection, open } = this.#journal
    const turn = open.get(key.turnId)
    connection.write(() => {
      if (turn !== undefined) {
        connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
        noteSettled(connection, turn.key, used)
      }
      spend(connection, key, used)
    })
    if (turn !== undefined) {
      turn.counted = { tokens: turn.counted.tokens + used.tokens, costUsd: turn.counted.costUsd + used.costUsd }
    }
  }
}
