/** Longer timers of Node overflow and fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Milliseconds from one time to a later one; none when the clock was set back in between. */
export function elapsed(from: number, to: number): number {
  return Math.max(0, to - from)
}

/**
 * The machine's clock as it stood when this was called, going on steadily from there: what is measured with it is right also when the clock is
 * set in between. Whole milliseconds.
 */
export function steadyClock(): typeof systemClock {
  const origin = Date.now() - performance.now()
  return { ...systemClock, now: () => Math.floor(origin + performance.now()) }
}

/** The machine's clock. A sleeping timer keeps the process alive: somebody waits for it. */
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
