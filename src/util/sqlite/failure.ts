/** Translates SQLite errors into messages with a hint on what to do. */

import type { FileKind } from './file-kind.ts'

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
