/** Returns whether a value is a promise, also a promise of another library. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Awaits a promise, and ignores other values and the result. */
export async function settled(work: unknown): Promise<void> {
  if (isPromise(work)) await work
}

/** Ignores the rejection of a floating promise, which would otherwise end the process. */
export function ignoreRejection(value: unknown): void {
  if (isPromise(value)) value.then(undefined, () => {})
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. The work has to watch the signal itself; a
 * later failure of the work is ignored.
 */
export function orAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    const settle = (): void => signal.removeEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: unknown) => {
        settle()
        reject(error)
      },
    )
  })
}

/**
 * Waits for `work`, but once the signal is aborted at most `graceMs` milliseconds longer. Returns whether the work ended in that time; otherwise
 * it continues unobserved.
 *
 * @throws the error of the work in that time.
 */
export async function settledInTime(work: Promise<unknown>, signal: AbortSignal, graceMs: number): Promise<boolean> {
  const { promise: tooLate, resolve } = Promise.withResolvers<false>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    timer = setTimeout(resolve, graceMs, false)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work.then(() => true), tooLate])
  } finally {
    signal.removeEventListener('abort', onAbort)
    clearTimeout(timer)
  }
}
