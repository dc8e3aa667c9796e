/** Runs an async generator again after retryable errors, with growing waits between the attempts. */

import type { Clock } from '../core/clock.ts'
import { ConfigurationError, isCriaError, MaxRetriesExceededError, toCriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import { errorInfo } from './error-info.ts'
import { backoff, DEFAULT_BACKOFF, systemClock } from '../util/clock.ts'
import { describe } from '../util/check.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'
import { isPromise } from '../util/promise.ts'

/** Options of `retryWithBackoff()`. */
export interface RetryOptions {
  /** Maximum number of attempts, including the first; default 3. */
  readonly maxAttempts?: number
  /** Another name of `maxAttempts`; `retry.maxRetries` of `query()` counts the retries after the first attempt. */
  readonly maxRetries?: number
  /** Upper bound of the first wait in milliseconds, doubled for each further wait, up to 60 s; default 1000. */
  readonly initialDelay?: number
  /** Aborting it ends a wait at once, with the signal's reason. */
  readonly signal?: AbortSignal
  /** Returns `true` for errors to retry; default: a `CriaError` with `retryable: true`. */
  readonly isRetryable?: (error: unknown) => boolean
  /** Time source, for tests; default the system clock. */
  readonly clock?: Clock
  /** A number from 0 up to 1 for the jitter; default `Math.random`. */
  readonly random?: () => number
}

const OPTIONS = namesOf<RetryOptions>({
  maxAttempts: true,
  maxRetries: true,
  initialDelay: true,
  signal: true,
  isRetryable: true,
  clock: true,
  random: true,
})

/** Yielded after a failed attempt, before the wait for the next. */
export interface RetryNotice {
  readonly type: 'retry'
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /** Milliseconds until the next attempt: random, between a tenth of the doubling bound and the whole bound. */
  readonly delay: number
  /** Why the attempt failed. */
  readonly error: ErrorInfo
}

/**
 * Yields the values of `operation`, and runs it again after a retryable error. Yields a `retry` notice before each wait; values of the
 * failed attempt are not taken back.
 *
 * @throws MaxRetriesExceededError if the last attempt fails, with that failure as its cause; an error that is not retryable, unchanged;
 *   ConfigurationError for invalid options.
 */
export async function* retryWithBackoff<T, R>(
  operation: () => AsyncGenerator<T, R>,
  options: RetryOptions = {},
): AsyncGenerator<T | RetryNotice, R, undefined> {
  if (typeof operation !== 'function') throw notGenerator(operation)
  const wrong = unknownOption(options, OPTIONS)
  if (wrong !== undefined) throw new ConfigurationError(`retryWithBackoff() has ${wrong.problem}`, wrong)
  const { initialDelay = DEFAULT_BACKOFF.initialDelay, signal, clock = systemClock, random = Math.random } = options
  const maxAttempts = options.maxAttempts ?? options.maxRetries ?? 3
  if (options.maxAttempts !== undefined && options.maxRetries !== undefined)
    throw new ConfigurationError('`maxAttempts` and `maxRetries` are two names of one option: leave one of them out.')
  const isRetryable = options.isRetryable ?? ((error) => isCriaError(error) && error.retryable)
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw new ConfigurationError(`maxAttempts must be a whole number of at least 1, but is ${maxAttempts}.`)

  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      const attempted = operation()
      if (!(Symbol.asyncIterator in Object(attempted))) throw notGenerator(attempted)
      return yield* attempted
    } catch (thrown) {
      if (!isRetryable(thrown)) throw thrown
      const error = toCriaError(thrown)
      if (attempt >= maxAttempts) {
        throw new MaxRetriesExceededError(`All ${maxAttempts} attempts failed; the last one with: ${error.message}`, {
          cause: thrown,
        })
      }
      const delay = backoff(attempt, { ...DEFAULT_BACKOFF, initialDelay }, random())
      yield { type: 'retry', attempt, delay, error: errorInfo(error) }
      await clock.sleep(delay, signal)
    }
  }
}

function notGenerator(received: unknown): ConfigurationError {
  return new ConfigurationError(
    `retryWithBackoff() takes a function that returns an async generator, but got ${isPromise(received) ? 'one that returns a promise' : describe(received)}.`,
  )
}
