/** The port to the response cache: texts under keys. Neither the key nor the text reveals the question. */

import type { MaybePromise } from './maybe-promise.ts'

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
