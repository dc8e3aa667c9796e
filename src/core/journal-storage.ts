/** The port to where a journal is kept, for journals elsewhere than in SQLite: texts under keys, in order, changed in transactions. */

import type { MaybePromise } from './maybe-promise.ts'

/** The rows as one transaction sees them. */
export interface JournalRows {
  /** The value of a key; `undefined` where there is none. */
  get(key: string): MaybePromise<string | undefined>
  /** Rows in the order of their keys, from `from` (included) to `to` (excluded), or backwards. */
  list(range: RowRange): MaybePromise<readonly (readonly [key: string, value: string])[]>
  /** Writes a value, in place of an earlier one. */
  set(key: string, value: string): MaybePromise<void>
  /** Removes a key; one that is not there is no error. */
  delete(key: string): MaybePromise<void>
}

/** Keys in order. */
export interface RowRange {
  /** The first key, included. */
  readonly from: string
  /** Where the range ends, excluded. */
  readonly to: string
  /** Default false. */
  readonly reverse?: boolean
  /** Default all. */
  readonly limit?: number
}

/**
 * Where `recorderOn` keeps a journal. Keys are printable ASCII and are ordered by their bytes; values are well-formed JSON of any length. Any database
 * that has a table of two columns with an index, or an ordered key-value store, will do.
 */
export interface JournalStorage {
  /**
   * Runs `work` so that it sees one state of the rows, and keeps what it writes as a whole; where it throws, nothing, and the error is passed on. Two
   * that write the same rows run one after the other, in this process and in others, or the later one is run again from its beginning.
   */
  transaction<Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result>
  /** Called once, when the recorder is closed. */
  close?(): MaybePromise<void>
}
