/** Types a kind of SQLite file: its contents, and the words of its errors. */

export interface FileKind {
  /** As a person calls it: `journal`. */
  readonly name: string
  /** In the header of the file (https://www.sqlite.org/pragma.html#pragma_application_id). */
  readonly applicationId: number
  /** Each takes the schema from the version of its index to the next; one that has been published is never edited. */
  readonly migrations: readonly string[]
  /** How long a writer waits for others, in milliseconds. */
  readonly busyTimeoutMs: number
  /** Bytes of a page of a file that is made; default 4,096. Rows of about a kilobyte waste less of a larger one. */
  readonly pageSize?: number
  /** Statements for each connection, such as the size of its cache. */
  readonly settings?: string
  /** Writes nothing, and fails where nothing can be written: SQLite opens such a file without a word. */
  readonly probe: string
  /** What to do when there is no file to read. */
  readonly missingHint: string
  /** What to do, where it is more than what holds for every file; by primary result code (https://www.sqlite.org/rescode.html). */
  readonly hints?: Readonly<Record<number, string>>
  readonly errors: FileErrors
}

export interface ErrorDetails {
  readonly cause?: unknown
  readonly hint?: string
  readonly retryable?: boolean
}

export interface FileErrors {
  /** One of those below: it has all it needs. */
  isOne(error: unknown): error is Error
  /** The caller named a file that cannot be used. */
  refused(message: string, details?: ErrorDetails): Error
  /** The file could have been used, and failed. */
  failed(message: string, details?: ErrorDetails): Error
  isFailed(error: unknown): boolean
  /** A statement of ours was wrong. */
  wrong(message: string, details?: ErrorDetails): Error
  /** Anything else that was thrown. */
  unknown(thrown: unknown): Error
}
