/** A result that a port returns at once (such as SQLite) or as a promise (such as a remote database). Callers await it only if it is a promise. */
export type MaybePromise<T> = T | Promise<T>
