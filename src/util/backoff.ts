/** Computes the wait before the next attempt. */

export interface BackoffPolicy {
  /** Milliseconds before the first retry, as an upper bound; the bound doubles with each retry. */
  readonly initialDelay: number
  /** No wait is longer, whoever asks for it. */
  readonly maxDelay: number
}

export const DEFAULT_BACKOFF: BackoffPolicy = { initialDelay: 1000, maxDelay: 60_000 }

/** Of the bound: chance alone would let some try again at once. */
const LEAST = 0.1

/**
 * Full jitter: a random wait below a bound that doubles, as in Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015; but
 * never less than a tenth of the bound.
 * @param retry number of this retry, from 1.
 * @param random between 0 and 1.
 */
export function backoff(retry: number, { initialDelay, maxDelay }: BackoffPolicy, random: number): number {
  const bound = Math.min(maxDelay, initialDelay * 2 ** (retry - 1))
  return Math.round(bound * Math.max(LEAST, random))
}
