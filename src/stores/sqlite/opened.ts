/** Identifies the SQLite stores of this process without loading their implementation. */

const opened = new WeakSet<object>()

/** Registers a store when it is constructed. */
export function noteOpened(store: object): void {
  opened.add(store)
}

/** Reports whether a value is a `SqliteDocumentStore`. */
export function isOpened(value: unknown): boolean {
  return typeof value === 'object' && value !== null && opened.has(value)
}
