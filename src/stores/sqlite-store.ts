/** The SQLite store as programs import it: what does the work is loaded when the first one is opened. */

import { isOpened } from './sqlite/opened.ts'
import type { SqliteDocumentStore as OpenedStore, SqliteDocumentStoreOptions } from './sqlite.ts'

/** An open document store in one file; see `SqliteDocumentStore.open()`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- only `open()` makes one, and it has all members
export interface SqliteDocumentStore extends OpenedStore {}

/**
 * A document store in one file.
 *
 * Several processes may use the file at once; each reads a consistent state, and writes in short transactions. A source is replaced as a
 * whole or not at all. After a crash everything is there that was reported as written.
 */
export class SqliteDocumentStore {
  private constructor() {}

  /**
   * Opens a store, or makes it.
   *
   * @throws ConfigurationError when the path is a folder, an empty file, a file of another application or of a newer version, or is
   * missing and may not be made, and when the store holds vectors of another embedding model; CriaError `store_failed` when the disk or another process refuses.
   */
  static async open(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
    const { SqliteDocumentStore: Store } = await import('./sqlite.ts')
    return Store.open(options)
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return isOpened(value)
  }
}
