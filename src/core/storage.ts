/** The ports to key-value storage: the rows of a journal outside SQLite (`recorderOn`), and the texts of the response cache. */

import type { MaybePromise } from './maybe-promise.ts'

/** The rows as one transaction sees them. */
export interface JournalRows {
  /** Returns the value of a key; `undefined` if the key does not exist. */
  get(key: string): MaybePromise<string | undefined>
  /** Returns rows in key order, from `from` (inclusive) to `to` (exclusive), or in reverse. */
  list(range: RowRange): MaybePromise<readonly (readonly [key: string, value: string])[]>
  /** Writes a value, replacing an earlier one. */
  set(key: string, value: string): MaybePromise<void>
  /** Removes a key; does nothing if the key does not exist. */
  delete(key: string): MaybePromise<void>
}

/** A range of keys in order. */
export interface RowRange {
  /** Start of the range, inclusive. */
  readonly from: string
  /** End of the range, exclusive. */
  readonly to: string
  /** Default false. */
  readonly reverse?: boolean
  /** Default all. */
  readonly limit?: number
}

/**
 * The storage in which `recorderOn` keeps a journal. Keys are printable ASCII, ordered by their bytes; values are well-formed JSON of any
 * length. Any database with an indexed table of two columns, or an ordered key-value store, is enough.
 */
export interface JournalStorage {
  /**
   * Runs `work` in a serialisable transaction: it sees one state of the rows, and its writes are committed together. If `work` throws, nothing
   * is written and the error is rethrown. Conflicting transactions, of any process, run one after the other, or the later one is run again.
   */
  transaction<Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result>
  /** Called once, when the recorder is closed. */
  close?(): MaybePromise<void>
}

/** The port to a response cache. Methods may be synchronous or return promises. */
export interface CacheStore {
  /**
   * Returns the text under this key unless it has expired. A read counts as a use for eviction.
   * @param now epoch milliseconds.
   */
  get(key: string, now: number): MaybePromise<string | undefined>
  /** Stores a text, replacing an earlier one; removes expired entries and those beyond `max`. */
  set(key: string, value: string, keep: Keeping): MaybePromise<void>
  /** Removes all entries. */
  clear(): MaybePromise<void>
}

/** How long an entry is kept. */
export interface Keeping {
  /** Epoch milliseconds. */
  readonly now: number
  /** Expiry, exclusive; epoch milliseconds. */
  readonly until: number
  /** Maximum number of entries; the least recently used are removed first. */
  readonly max: number
}
