/** Answers that were given before, kept in the journal's file for all processes that share it. */

import type { CacheStore, Keeping } from '../../core/cache.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

export class SqliteCache implements CacheStore {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(key: string, now: number): string | undefined {
    const connection = this.#connection
    const found = connection.get<{ id: number; value: unknown }>('SELECT id, value FROM answers WHERE key = ? AND until > ?', [
      key,
      now,
    ])
    if (typeof found?.value !== 'string') return undefined
    if (!connection.readOnly) connection.run(`UPDATE answers SET used = ${NEXT} WHERE id = ?`, [found.id])
    return found.value
  }

  set(key: string, value: string, { now, until, max }: Keeping): void {
    const connection = this.#connection
    if (connection.readOnly) return
    connection.write(() => {
      connection.run('DELETE FROM answers WHERE until <= ? OR key = ?', [now, key])
      connection.run(`INSERT INTO answers (key, value, until, used) VALUES (?, ?, ?, ${NEXT})`, [key, value, until])
      connection.run('DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY used DESC LIMIT -1 OFFSET ?)', [max])
    })
  }

  clear(): void {
    this.#connection.run('DELETE FROM answers')
  }
}

/** A count and no time: what is used in the same millisecond has an order too. */
const NEXT = '(SELECT coalesce(max(used), 0) + 1 FROM answers)'

/** Answers that are too old to be given again. */
export function forgetOldAnswers(connection: Connection, now: number): void {
  connection.run('DELETE FROM answers WHERE until <= ?', [now])
}
