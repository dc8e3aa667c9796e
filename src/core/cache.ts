/** The port to where answers are kept for those who ask the same again. What is kept is text under a key; neither tells what was asked. */

import type { MaybePromise } from './maybe-promise.ts'

/** The port to where answers are kept. Methods may be synchronous or return promises. */
export interface CacheStore {
  /**
   * The text under this key, while it is good. Being read counts as being used.
   * @param now epoch milliseconds.
   */
  get(key: string, now: number): MaybePromise<string | undefined>
  /** Keeps a text, in place of one that was there; what is too old or too much goes. */
  set(key: string, value: string, keep: Keeping): MaybePromise<void>
  /** Removes all entries. */
  clear(): MaybePromise<void>
}

/** How long an entry is kept. */
export interface Keeping {
  /** Epoch milliseconds. */
  readonly now: number
  /** Until when it is good, exclusive; epoch milliseconds. */
  readonly until: number
  /** Texts that are kept at most: the ones that were not used for longest go first. */
  readonly max: number
}
