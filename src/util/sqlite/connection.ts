/** A connection to a SQLite file: prepared statements, transactions, and actionable errors. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { toFileError } from './failure.ts'
import type { FileKind } from './file-kind.ts'

export class Connection {
  readonly path: string
  readonly readOnly: boolean
  readonly #kind: FileKind
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(kind: FileKind, database: DatabaseSync, path: string, readOnly: boolean) {
    this.#kind = kind
    this.#database = database
    this.path = path
    this.readOnly = readOnly
  }

  /** Runs a statement without result rows; returns the number of changed rows. */
  run(sql: string, values: readonly SQLInputValue[] = []): number {
    return this.#guard(() => Number(this.#prepare(sql).run(...values).changes))
  }

  /** Inserts a row and returns its integer key. */
  insert(sql: string, values: readonly SQLInputValue[] = []): number {
    return this.#guard(() => Number(this.#prepare(sql).run(...values).lastInsertRowid))
  }

  get<Row>(sql: string, values: readonly SQLInputValue[] = []): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values) as Row | undefined)
  }

  all<Row>(sql: string, values: readonly SQLInputValue[] = []): Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values) as Row[])
  }

  /** Runs several statements without caching them. */
  execute(sql: string): void {
    this.#guard(() => this.#database.exec(sql))
  }

  /**
   * Runs `work` in a transaction that takes the write lock at its start, so that it does not fail later for lack of the lock.
   * Inside another transaction, `work` becomes part of that transaction.
   */
  write<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', work)
  }

  /** Runs `work`, which only reads, in one snapshot. */
  snapshot<T>(work: () => T): T {
    return this.#transaction('BEGIN', work)
  }

  get isOpen(): boolean {
    return this.#database.isOpen
  }

  close(): void {
    if (!this.#database.isOpen) return
    this.#statements.clear()
    this.#guard(() => this.#database.close())
  }

  #transaction<T>(begin: string, work: () => T): T {
    return this.#guard(() => {
      if (this.#database.isTransaction) return work()
      this.#prepare(begin).run()
      try {
        const result = work()
        this.#prepare('COMMIT').run()
        return result
      } catch (error) {
        // After some failures, such as a full disk, SQLite has already rolled back.
        if (this.#database.isTransaction) this.#rollBack()
        throw error
      }
    })
  }

  #rollBack(): void {
    try {
      this.#prepare('ROLLBACK').run()
    } catch {
      // The error that caused the rollback is thrown to the caller, and says more.
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toFileError(this.#kind, this.path, error)
    }
  }
}
