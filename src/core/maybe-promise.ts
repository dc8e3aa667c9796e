/** A result that a port gives at once (SQLite) or later (PostgreSQL). Callers await it only where it is a promise. */
export type MaybePromise<T> = T | Promise<T>
