/** A connection to a SQLite file: prepared statements, transactions, actionable errors, and freeing of space. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { toFileError } from './file-kind.ts'
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

/** Number of pages that a statement moves. */
const PAGES = 64

/**
 * Shrinks the file for about `ms` milliseconds; every statement is a separate transaction.
 *
 * @returns whether there is more space to free.
 */
export function vacuum(connection: Connection, ms: number): boolean {
  const deadline = performance.now() + ms
  let free = pragma(connection, 'freelist_count')
  while (free > 0) {
    connection.execute(`PRAGMA incremental_vacuum(${PAGES})`)
    const left = pragma(connection, 'freelist_count')
    // A file created without `auto_vacuum` keeps its pages and reuses them.
    if (left >= free) return false
    free = left
    if (performance.now() >= deadline) return free > 0
  }
  return false
}

/** Moves the write-ahead log into the file and empties it, as far as no reader needs it. @returns whether it is empty. */
export function truncateLog(connection: Connection): boolean {
  return connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
}

/** Returns whether much of the file is free: a quarter of it, and some megabytes. */
export function isMuchFree(connection: Connection): boolean {
  const free = pragma(connection, 'freelist_count')
  return free > 1000 && free * 4 > pragma(connection, 'page_count')
}

/** Returns the number of used bytes of the file. */
export function usedBytes(connection: Connection): number {
  return (pragma(connection, 'page_count') - pragma(connection, 'freelist_count')) * pragma(connection, 'page_size')
}

function pragma(connection: Connection, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0
}
