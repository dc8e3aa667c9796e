/** Stores budgets of sessions, days, users and tags, and cached answers in the journal's file, for all processes that share it. */

import type { BudgetStore } from '../../core/budget.ts'
import type { CacheStore } from '../../core/storage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isBusy } from '../../util/sqlite/failure.ts'
import type { Patience } from '../../util/sqlite/patience.ts'
import { insertInto } from './columns.ts'
import type { Journal } from './journal.ts'
import { endUnheldTurns, renewLease } from './lease.ts'
import { noteSettled, sharedUse, spend } from './spending.ts'
import { heldTurn } from './turn.ts'

export function budgetIn(journal: Journal, patience: Patience): BudgetStore {
  const { connection, open } = journal
  return {
    reserve: (key, plan) =>
      patience.run(() => {
        const turn = heldTurn(journal, key.turnId)
        endUnheldTurns(journal)
        connection.write(() => {
          renewLease(journal, turn)
          connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
          const { most, least } = plan(sharedUse(connection, key))
          const amounts = { tokens: most.tokens, costUsd: most.costUsd, leastTokens: least.tokens, leastCostUsd: least.costUsd }
          insertInto(connection, 'reservations', { turn: turn.key, sessionId: key.sessionId, day: key.day, ...amounts })
        })
      }),
    // Also after the turn was ended as lost: the money has been spent.
    settle: (key, used) =>
      patience.run(() => {
        const turn = open.get(key.turnId)
        connection.write(() => {
          if (turn !== undefined) {
            connection.run('DELETE FROM reservations WHERE turn = ?', [turn.key])
            noteSettled(connection, turn.key, used)
          }
          spend(connection, key, used)
        })
        if (turn === undefined) return
        turn.counted = { tokens: turn.counted.tokens + used.tokens, costUsd: turn.counted.costUsd + used.costUsd }
      }),
  }
}

/** Sequence number of an answer's use. A counter, not a time: uses in the same millisecond are ordered too. */
const NEXT = '(SELECT coalesce(max(used), 0) + 1 FROM answers)'

export function cacheIn(connection: Connection, patience: Patience): CacheStore {
  return {
    get: (key, now) => {
      const find = 'SELECT id, value FROM answers WHERE key = ? AND until > ?'
      const found = connection.get<{ id: number; value: unknown }>(find, [key, now])
      if (typeof found?.value !== 'string') return undefined
      if (!connection.readOnly) noteUse(connection, found.id)
      return found.value
    },
    set: (key, value, { now, until, max }) => {
      if (connection.readOnly) return undefined
      return patience.run(() =>
        connection.write(() => {
          connection.run('DELETE FROM answers WHERE until <= ? OR key = ?', [now, key])
          connection.run(`INSERT INTO answers (key, value, until, used) VALUES (?, ?, ?, ${NEXT})`, [key, value, until])
          connection.run('DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY used DESC LIMIT -1 OFFSET ?)', [max])
        }),
      )
    },
    clear: () =>
      patience.run(() => {
        connection.run('DELETE FROM answers')
      }),
  }
}

/** Does not wait for a lock: the use only decides which answer is removed first. */
function noteUse(connection: Connection, answer: number): void {
  try {
    connection.run(`UPDATE answers SET used = ${NEXT} WHERE id = ?`, [answer])
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}
