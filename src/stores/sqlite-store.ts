/** The SQLite store as programs import it: its implementation is loaded when the first store is opened. */

import { isOpened } from './sqlite/opened.ts'
import type { SqliteDocumentStore as OpenedStore, SqliteDocumentStoreOptions } from './sqlite.ts'

/** An open document store in one file; see `SqliteDocumentStore.open()`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- only `open()` makes one, and it has all members
export interface SqliteDocumentStore extends OpenedStore {}

/**
 * A document store in one file.
 *
 * Several processes may use the file at once; each reads a consistent state, and writes in short transactions. A source is replaced atomically.
 * Reported writes survive a crash.
 */
export class SqliteDocumentStore {
  private constructor() {}

  /**
   * Opens a store, or creates it.
   *
   * @throws ConfigurationError for a folder, an empty file, a file of another application or of a newer version, a missing file that must not be
   * created, and vectors of another embedding model; CriaError `store_failed` when the disk fails or another process holds the lock.
   */
  static async open(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
    const { SqliteDocumentStore: Store } = await import('./sqlite.ts')
    return Store.open(options)
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return isOpened(value)
  }
}
