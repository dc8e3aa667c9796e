/** A file that cannot become a document. The message is the reason that is reported: `a PDF without text (scanned?)`. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/** Why there is no document of a file. */
export interface Failure {
  readonly skipped: string
  /** `gone`: there is no file; `now`: it may be readable another time; `limit`: by the caller's choice; `content`: as long as it stays as it is. */
  readonly because: 'gone' | 'now' | 'limit' | 'content'
}

/** What was thrown, as a reason for people. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unreadable) return { skipped: error.message, because: 'content' }
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return { skipped: 'gone', because: 'gone' }
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) return { skipped: `unreadable (${code})`, because: 'now' }
  return { skipped: `malformed (${error instanceof Error ? error.message : String(error)})`, because: 'content' }
}

/** What comes out of a file whose format is not text. */
export interface Extracted {
  readonly text: string
  readonly title?: string
  /** Worth telling, such as a guessed encoding. */
  readonly note?: string
}

/** How long a reader may work on one file. */
export interface Patience {
  /** Milliseconds for the whole file. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
}
