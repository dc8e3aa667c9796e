/** One connection to the file: prepared statements, transactions, and errors that a person can act on. */

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

  /** Runs a statement that gives nothing back; returns how many rows it changed. */
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

  /** Statements that are not worth keeping, several at once. */
  execute(sql: string): void {
    this.#guard(() => this.#database.exec(sql))
  }

  /**
   * Does `work` in one transaction that holds the lock for writing from its start, so that it never has to give up in its middle.
   * Inside another transaction it is part of that one.
   */
  write<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', work)
  }

  /** Does `work`, which only reads, in one snapshot. */
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
        // After some failures, a full disk among them, SQLite has rolled back by itself.
        if (this.#database.isTransaction) this.#rollBack()
        throw error
      }
    })
  }

  #rollBack(): void {
    try {
      this.#prepare('ROLLBACK').run()
    } catch {
      // What made it necessary is on its way to the caller, and says more.
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
