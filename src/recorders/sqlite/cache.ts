/** Answers that were given before, kept in the journal's file for all processes that share it. */

import type { CacheStore, Keeping } from '../../core/cache.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isBusy } from '../../util/sqlite/failure.ts'
import type { Patience } from '../../util/sqlite/patience.ts'

export class SqliteCache implements CacheStore {
  readonly #connection: Connection
  readonly #patience: Patience

  constructor(connection: Connection, patience: Patience) {
    this.#connection = connection
    this.#patience = patience
  }

  get(key: string, now: number): string | undefined {
    const connection = this.#connection
    const found = connection.get<{ id: number; value: unknown }>('SELECT id, value FROM answers WHERE key = ? AND until > ?', [
      key,
      now,
    ])
    if (typeof found?.value !== 'string') return undefined
    if (!connection.readOnly) this.#noteUse(found.id)
    return found.value
  }

  /** Not worth waiting for a lock: it only decides what goes first. */
  #noteUse(id: number): void {
    try {
      this.#connection.run(`UPDATE answers SET used = ${NEXT} WHERE id = ?`, [id])
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }

  set(key: string, value: string, { now, until, max }: Keeping): MaybePromise<void> {
    const connection = this.#connection
    if (connection.readOnly) return undefined
    return this.#patience.run(() =>
      connection.write(() => {
        connection.run('DELETE FROM answers WHERE until <= ? OR key = ?', [now, key])
        connection.run(`INSERT INTO answers (key, value, until, used) VALUES (?, ?, ?, ${NEXT})`, [key, value, until])
        connection.run('DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY used DESC LIMIT -1 OFFSET ?)', [max])
      }),
    )
  }

  clear(): MaybePromise<void> {
    return this.#patience.run(() => {
      this.#connection.run('DELETE FROM answers')
    })
  }
}

/** A count and no time: what is used in the same millisecond has an order too. */
const NEXT = '(SELECT coalesce(max(used), 0) + 1 FROM answers)'

/** Answers that are too old to be given again. */
export function forgetOldAnswers(connection: Connection, now: number): void {
  connection.run('DELETE FROM answers WHERE until <= ?', [now])
}
