/** Defines one kind of SQLite file (schema, settings, errors), and translates SQLite errors into messages with a hint. */

export interface FileKind {
  /** Name in messages: `journal`. */
  readonly name: string
  /** Id in the header of the file (https://www.sqlite.org/pragma.html#pragma_application_id). */
  readonly applicationId: number
  /** The migration at index `n` takes the schema from version `n` to the next. Published migrations are never edited. */
  readonly migrations: readonly string[]
  /** Milliseconds that a writer waits for other writers. */
  readonly busyTimeoutMs: number
  /** Page size of a new file in bytes; default 4,096. Larger pages waste less space with rows of about a kilobyte. */
  readonly pageSize?: number
  /** Statements for each connection, such as the size of its cache. */
  readonly settings?: string
  /** A statement that changes nothing, but fails on a read-only file, which SQLite opens without an error. */
  readonly probe: string
  /** Hint for a missing file. */
  readonly missingHint: string
  /** Hints that replace the general ones, by primary result code (https://www.sqlite.org/rescode.html). */
  readonly hints?: Readonly<Record<number, string>>
  readonly errors: FileErrors
}

export interface ErrorDetails {
  readonly cause?: unknown
  readonly hint?: string
  readonly retryable?: boolean
}

export interface FileErrors {
  /** Returns whether an error needs no translation: it is of a kind that these functions make. */
  isOne(error: unknown): error is Error
  /** Makes the error for a file that cannot be used. */
  refused(message: string, details?: ErrorDetails): Error
  /** Makes the error for a usable file that could not be read or written. */
  failed(message: string, details?: ErrorDetails): Error
  /** Returns whether `failed` made the error. */
  isFailed(error: unknown): boolean
  /** Makes the error for a statement of cria that SQLite rejects: a bug. */
  wrong(message: string, details?: ErrorDetails): Error
  /** Makes the error for any other thrown value. */
  unknown(thrown: unknown): Error
}

/** Problem and hint by primary result code (https://www.sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<number, readonly [what: string, hint: string]>> = {
  3: ['may not be opened', 'Check the permissions of the file and its folder.'],
  5: ['is held by another process', 'Another process has been writing for long: end it, or try again.'],
  8: ['is read-only', 'Check the permissions of the file, its folder and its file system, or name another file.'],
  10: ['could not be read or written', 'Check whether the disk is full, and the file system it lies on.'],
  11: ['is damaged', 'Move the file away, and a new one is begun.'],
  13: ['cannot grow, the disk is full', 'Free some space.'],
  14: ['could not be opened', 'Check that its folder exists, the permissions of both, and that the disk can be written.'],
  18: ['cannot hold a text this long', 'Cut it into smaller ones.'],
  26: ['is not a SQLite database, or is damaged', 'Move the file away, or name another one.'],
}
const BUSY = 5
const LOCKED = 6
const DAMAGED = 11
const FULL = 13
const NO_DATABASE = 26

/** Translates an error; errors of this kind of file are returned unchanged. */
export function toFileError(kind: FileKind, path: string, thrown: unknown): Error {
  const { errors, name, hints } = kind
  if (errors.isOne(thrown)) return thrown
  const { code, errcode } = (thrown ?? {}) as { code?: unknown; errcode?: unknown }
  if (code === 'ERR_INVALID_STATE')
    return errors.failed(`The ${name} ${path} is closed.`, { cause: thrown, hint: 'Use it before it is closed.' })
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return errors.unknown(thrown)
  const primary = errcode & 0xff
  const failure = FAILURES[primary]
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  if (failure === undefined) return errors.wrong(`The ${name} ${path} refused a statement: ${said}.`, { cause: thrown })
  const [what, hint] = failure
  return errors.failed(`The ${name} ${path} ${what} (${said}).`, {
    cause: thrown,
    hint: hints?.[primary] ?? hint,
    retryable: primary === BUSY,
  })
}

/** Returns true when the file is not a SQLite database. */
export function isNoDatabase(error: unknown): boolean {
  return resultCode(error) === NO_DATABASE
}

/** Returns true when another connection holds the lock; a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}

/** Returns true when the disk is full, or the file may not grow. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === FULL
}

/** Returns true when the file, or a part of it, is damaged. */
export function isDamaged(error: unknown): boolean {
  const code = resultCode(error)
  return code === DAMAGED || code === NO_DATABASE
}

/** Returns the primary result code of a SQLite error, or of an error that it caused. */
function resultCode(error: unknown): number | undefined {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth++) {
    const { cause, errcode } = at as { readonly cause?: unknown; readonly errcode?: unknown }
    if (typeof errcode === 'number') return errcode & 0xff
    at = cause
  }
  return undefined
}
