/** Retries any generator: the policy of the model station for work of your own. */

import type { Clock } from '../core/clock.ts'
import { ConfigurationError, isCriaError, MaxRetriesExceededError, toCriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import { errorInfo } from './error-info.ts'
import { backoff, DEFAULT_BACKOFF } from '../util/backoff.ts'
import { describe } from '../util/check.ts'
import { systemClock } from '../util/clock.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'
import { isPromise } from '../util/promise.ts'

/** Options of `retryWithBackoff()`. */
export interface RetryOptions {
  /** Attempts in all, the first one included; default 3. */
  readonly maxAttempts?: number
  /** Another name of `maxAttempts`; `retry.maxRetries` of `query()` counts the retries after the first attempt. */
  readonly maxRetries?: number
  /** Milliseconds: upper bound of the first wait, which doubles with each further one, up to 60 s; default 1000. */
  readonly initialDelay?: number
  /** Ends a wait at once, with the signal's reason. */
  readonly signal?: AbortSignal
  /** Default: a `CriaError` that says so. */
  readonly isRetryable?: (error: unknown) => boolean
  /** For tests: time and chance. */
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

/** Describes a failed attempt that is about to be made again. */
export interface RetryNotice {
  readonly type: 'retry'
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /** Milliseconds until the next one: random, between a tenth of a bound that doubles and all of it. */
  readonly delay: number
  /** Why the attempt failed. */
  readonly error: ErrorInfo
}

/**
 * Yields what `operation` yields, and tries again when it fails with something that may pass. Before each wait it yields a `retry` notice; what
 * had been yielded by the failed attempt is not taken back.
 *
 * @throws MaxRetriesExceededError when the last attempt failed as well, with that failure as its cause; an error that is not worth a retry
 *   unchanged; ConfigurationError for options that make no sense.
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
