/** What a port may give at once (SQLite) or later (PostgreSQL): callers await it where it is a promise, and only then. */
export type MaybePromise<T> = T | Promise<T>
