/** Types of a kind of SQLite file: its schema, settings and errors. */

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
  /** Returns true for errors of the kinds below, which need no translation. */
  isOne(error: unknown): error is Error
  /** For a file that cannot be used. */
  refused(message: string, details?: ErrorDetails): Error
  /** For a usable file that failed. */
  failed(message: string, details?: ErrorDetails): Error
  isFailed(error: unknown): boolean
  /** For a wrong statement of cria. */
  wrong(message: string, details?: ErrorDetails): Error
  /** For any other thrown value. */
  unknown(thrown: unknown): Error
}
