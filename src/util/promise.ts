/** Tells whether a value is a promise, also one of another library. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Waits only where there is something to wait for. */
export async function settled(work: unknown): Promise<void> {
  if (isPromise(work)) await work
}

/** Lets work go on that a callback began and nobody waits for: its failure is nobody's, least of all the process's. */
export function unheard(value: unknown): void {
  if (isPromise(value)) value.then(undefined, () => {})
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. The work is told by the signal itself; should it fail later,
 * nobody is left to hear it, and nothing is thrown.
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
 * Whether `work` is done before the signal has been aborted for `graceMs` milliseconds. Work that is not waited for any longer goes on.
 * @throws what the work throws in that time.
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
