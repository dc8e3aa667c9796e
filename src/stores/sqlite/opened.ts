/** Knows the SQLite stores of this process without loading what opens one. */

const opened = new WeakSet<object>()

/** Called by a store as it is made. */
export function noteOpened(store: object): void {
  opened.add(store)
}

/** Tells whether a value is a `SqliteDocumentStore`. */
export function isOpened(value: unknown): boolean {
  return typeof value === 'object' && value !== null && opened.has(value)
}
