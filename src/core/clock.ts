/** Time source, injected so that tests control how time passes. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms` milliseconds, without an upper limit (`Infinity`: never). Rejects with the signal's reason on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
