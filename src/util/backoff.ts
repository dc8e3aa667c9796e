/** Computes the wait before the next attempt. */

export interface BackoffPolicy {
  /** Milliseconds before the first retry, as an upper bound; the bound doubles with each retry. */
  readonly initialDelay: number
  /** Maximum wait in milliseconds, also when a server asks for a longer one. */
  readonly maxDelay: number
}

export const DEFAULT_BACKOFF: BackoffPolicy = { initialDelay: 1000, maxDelay: 60_000 }

/** Minimum wait as a share of the bound; without it some random waits would be almost 0. */
const LEAST = 0.1

/**
 * Returns a wait in milliseconds with full jitter: random, below a bound that doubles, and at least a tenth of the bound.
 * See Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 * @param retry number of this retry, from 1.
 * @param random between 0 and 1.
 */
export function backoff(retry: number, { initialDelay, maxDelay }: BackoffPolicy, random: number): number {
  const bound = Math.min(maxDelay, initialDelay * 2 ** (retry - 1))
  return Math.round(bound * Math.max(LEAST, random))
}
