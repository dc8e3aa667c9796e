/** Defines the result of reading a file, and the reasons why it cannot be read. */

/** Thrown when a file cannot become a document. The message is the reported reason: `a PDF without text (scanned?)`. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/** The reason why a file has no document. */
export interface Failure {
  readonly skipped: string
  /** `gone`: the file does not exist; `now`: a later attempt may succeed; `limit`: a limit of the caller; `content`: lasts until it changes. */
  readonly because: 'gone' | 'now' | 'limit' | 'content'
}

/** Converts a thrown value to a readable reason. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unreadable) return { skipped: error.message, because: 'content' }
  if (isMissing(error)) return { skipped: 'gone', because: 'gone' }
  const code = codeOf(error) ?? ''
  if (/^E[A-Z0-9]+$/.test(code)) return { skipped: `unreadable (${code})`, because: 'now' }
  return { skipped: `malformed (${error instanceof Error ? error.message : String(error)})`, because: 'content' }
}

/** Reports whether a file-system error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return /^(?:ENOENT|ENOTDIR)$/.test(codeOf(error) ?? '')
}

/** Returns the code of a system error: `EACCES`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Text extracted from a file whose format is not text. */
export interface Extracted {
  readonly text: string
  readonly title?: string
  /** Note for the user, such as a guessed encoding. */
  readonly note?: string
}

/** Limits for reading one file. */
export interface Patience {
  /** Milliseconds for the whole file. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
}
