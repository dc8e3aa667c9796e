/** Measures time and waits: clocks, and the delay before a retry. */

/** Maximum delay of a Node timer in milliseconds; a longer delay overflows, and the timer fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Returns the milliseconds between two times; 0 when the clock was set back in between. */
export function elapsed(from: number, to: number): number {
  return Math.max(0, to - from)
}

/**
 * Returns a monotonic clock that starts at the current system time, so that durations stay right when the system clock is set.
 * Its times are whole milliseconds.
 */
export function steadyClock(): typeof systemClock {
  const origin = Date.now() - performance.now()
  return { ...systemClock, now: () => Math.floor(origin + performance.now()) }
}

/** The system clock. A pending `sleep` keeps the process alive. */
export const systemClock = {
  now: (): number => Date.now(),

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      let left = ms
      let timer: NodeJS.Timeout
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const wait = (): void => {
        const now = Math.min(left, LONGEST_TIMER)
        left -= now
        timer = setTimeout(left > 0 ? wait : done, now)
      }
      const done = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      wait()
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
}

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
