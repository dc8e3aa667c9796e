/** A result that a port returns at once (SQLite) or as a promise (PostgreSQL). Callers await it only if it is a promise. */
export type MaybePromise<T> = T | Promise<T>
