import { CriaError, isCriaError, toCriaError } from '../../core/error.ts'

interface Failure {
  readonly what: string
  readonly hint: string
  readonly retryable?: boolean
}

/** By primary result code (https://www.sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<number, Failure>> = {
  3: { what: 'may not be opened', hint: 'Check the permissions of the file and its folder.' },
  5: {
    what: 'is held by another process',
    hint: 'Another process has been writing for long: end it, or try again.',
    retryable: true,
  },
  8: { what: 'is read-only', hint: 'Check the permissions of the file, its folder and its file system, or name another file.' },
  10: { what: 'could not be read or written', hint: 'Check whether the disk is full, and the file system it lies on.' },
  11: { what: 'is damaged', hint: 'Remove the file and index the documents again.' },
  13: { what: 'cannot grow, the disk is full', hint: 'Free some space, and index again: what was indexed before is kept.' },
  14: {
    what: 'could not be opened',
    hint: 'Check that its folder exists, the permissions of both, and that the disk can be written.',
  },
  18: { what: 'cannot hold a text this long', hint: 'Cut the document into smaller ones.' },
  26: { what: 'is no SQLite database, or is damaged', hint: 'Move the file away, or name another one.' },
}

/** The file is something else. */
export function isNoDatabase(error: unknown): boolean {
  return isCriaError(error) && (error.cause as { errcode?: unknown } | undefined)?.errcode === 26
}

/** Makes a `CriaError` of what SQLite throws; errors that are ours already pass unchanged. */
export function storeError(thrown: unknown, path: string): CriaError {
  if (isCriaError(thrown)) return thrown
  const { code, errcode } = (thrown ?? {}) as { code?: unknown; errcode?: unknown }
  if (code === 'ERR_INVALID_STATE') {
    return new CriaError('store_failed', `The document store ${path} is closed.`, {
      cause: thrown,
      hint: 'Use it before it is closed.',
    })
  }
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return toCriaError(thrown)
  const failure = FAILURES[errcode & 0xff]
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  if (failure === undefined) {
    return new CriaError('internal', `The document store ${path} refused a statement: ${said}.`, { cause: thrown })
  }
  return new CriaError('store_failed', `The document store ${path} ${failure.what} (${said}).`, {
    cause: thrown,
    hint: failure.hint,
    retryable: failure.retryable ?? false,
  })
}
