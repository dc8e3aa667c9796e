/**
 * Waits for a lock of another connection without blocking the event loop: `node:sqlite` is synchronous, so its own busy timeout would
 * block timers, signals and every other turn of the process.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './file-kind.ts'

/** Milliseconds that an attempt may block: longer than a small transaction of another process, but short beside the pause after it. */
export const TRY_MS = 2
/** Milliseconds between attempts; the last value plus up to as much again at random, so that processes do not retry in step. */
const PAUSES_MS = [5, 10, 20, 25]

/** A first-in, first-out queue of work that needs the lock; only the first entry attempts to take it. */
export class Patience {
  readonly #limitMs: number
  #last: Promise<unknown> | undefined

  /** @param limitMs milliseconds after which waiting for a lock fails. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Returns the result of `work`, or a promise of it while a lock is held. `work` must not change anything when it fails. */
  run<T>(work: () => T): T | Promise<T> {
    if (this.#last === undefined) {
      try {
        return work()
      } catch (error) {
        if (!isBusy(error)) throw error
      }
    }
    const before = this.#last
    const deadline = performance.now() + this.#limitMs
    const result = (async () => {
      await before
      return patiently(work, deadline)
    })()
    const settled: Promise<void> = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.#last === settled) this.#last = undefined
      })
    this.#last = settled
    return result
  }
}

/**
 * Retries until the lock is free.
 *
 * @param deadline by `performance.now()`.
 * @throws the error of the last attempt; the reason of the signal when it is aborted.
 */
export async function patiently<T>(work: () => T, deadline: number, signal?: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries++) {
    signal?.throwIfAborted()
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
    const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0
    await sleep(pause * (1 + Math.random()))
  }
}
