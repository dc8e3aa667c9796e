/**
 * Waits for a lock that another connection holds, without keeping the event loop from turning: `node:sqlite` is synchronous, so that a busy
 * timeout of its own would hold up timers, signals and every other turn of the process.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './failure.ts'

/** Milliseconds that one try may stand still: longer than a small transaction of another process takes, and a small part of the pause after it. */
export const TRY_MS = 2
/** Milliseconds between two tries, the longest plus as much again at random, so that processes do not try in step. */
const PAUSES_MS = [5, 10, 20, 25]

/** A queue: who came first tries first, and only the first tries. */
export class Patience {
  readonly #limitMs: number
  #last: Promise<unknown> | undefined

  /** @param limitMs after which a lock that is still held counts as a failure. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The result of `work`: at once where no lock stands in the way, else when it is gone. `work` must change nothing when it fails. */
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
 * Tries until no lock stands in the way.
 *
 * @param deadline by `performance.now()`.
 * @throws what the last try threw; the reason of the signal when it is aborted.
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
