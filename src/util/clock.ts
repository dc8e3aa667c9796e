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
