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
