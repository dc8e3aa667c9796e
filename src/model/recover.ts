/** Decides what to do after a failed attempt, in one pure function. */

import { CriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import type { JsonObject } from '../core/json.ts'
import { backoff } from '../util/clock.ts'
import type { BackoffPolicy } from '../util/clock.ts'
import { defined } from '../util/check.ts'

/** The policy for retries of failed attempts. */
export interface RetryPolicy extends BackoffPolicy {
  /** Retries after the first attempt, for each model of a step; default 2. */
  readonly maxRetries: number
  /**
   * After part of an answer was shown: `retry` (default) yields a `reset` event and tries again; `error` ends the turn, for readers that
   * cannot discard output (pipes).
   */
  readonly afterOutput: 'retry' | 'error'
  /** Milliseconds for which a model is tried last after a failure; default 60,000. With 0 every turn begins with the first model. */
  readonly coolDown: number
}

/** Errors that `fallbackOn` may name: they end a turn, although a model of another account may answer. */
export const FALLBACK_CODES: readonly ['auth', 'quota'] = ['auth', 'quota']
export type FallbackCode = (typeof FALLBACK_CODES)[number]

/** Maximum wait in milliseconds for a model while a healthy fallback is available. */
const WAIT_BESIDE_FALLBACK = 3000

export interface AttemptState {
  /** Retries already made with this model. */
  readonly retries: number
  /** `true`: part of this attempt has been shown. */
  readonly shown: boolean
  /** Availability of a fallback; `cooling`: it failed recently, too. */
  readonly fallback: 'none' | 'cooling' | 'healthy'
  /** Milliseconds until the deadline of the turn; `Infinity` without a limit. */
  readonly timeLeft: number
  /** Between 0 and 1, for jitter. */
  readonly random: number
}

export type Recovery =
  | { readonly action: 'retry'; readonly delay: number }
  /** `wait`: milliseconds after which this model may be retried; set if only the length of the wait prevents a retry. */
  | { readonly action: 'switch'; readonly reason: SwitchReason; readonly wait?: number }
  /** The request is too large: the loop compacts it, or chooses a larger model. */
  | { readonly action: 'overflow' }
  | { readonly action: 'fail' }

/** The kind of each error, which determines the recovery. `transient` errors may pass by themselves. */
const KIND: Readonly<Partial<Record<ErrorCode, 'transient' | 'model' | 'overflow'>>> = {
  rate_limited: 'transient',
  overloaded: 'transient',
  network: 'transient',
  timeout: 'transient',
  stream_interrupted: 'transient',
  invalid_response: 'transient',
  no_assistant_message: 'transient',
  model_unavailable: 'model',
  context_length: 'overflow',
}

/** @param fallbackOn final errors that lead to a fallback; see `EngineOptions.fallbackOn`. */
export function recover(
  error: CriaError,
  state: AttemptState,
  policy: RetryPolicy,
  fallbackOn: readonly FallbackCode[] = [],
): Recovery {
  const isNamed = (fallbackOn as readonly ErrorCode[]).includes(error.code)
  const kind = KIND[error.code] ?? (isNamed ? 'model' : error.retryable ? 'transient' : undefined)
  if (kind === 'overflow') return { action: 'overflow' }
  if (kind === undefined) return { action: 'fail' }
  if (state.shown && policy.afterOutput === 'error') return { action: 'fail' }

  if (kind === 'transient' && error.retryable && state.retries < policy.maxRetries) {
    const delay = retryDelay(error, state, policy)
    if (delay !== undefined && delay < state.timeLeft) {
      if (state.fallback !== 'healthy' || delay <= WAIT_BESIDE_FALLBACK) return { action: 'retry', delay }
      return { action: 'switch', reason: switchReason(error), wait: delay }
    }
  }
  return state.fallback === 'none' ? { action: 'fail' } : { action: 'switch', reason: switchReason(error) }
}

/** Returns `true` if another model, or the same one later, may answer: the request itself is not at fault. */
export function isOfModel({ code, retryable }: CriaError): boolean {
  return KIND[code] !== undefined || retryable || (FALLBACK_CODES as readonly ErrorCode[]).includes(code)
}

/** HTTP status of an overloaded provider. */
const TOO_BUSY = 529

/** Returns the reason of the switch after this error. */
export function switchReason({ code, status }: CriaError): SwitchReason {
  return code === 'rate_limited' || status === TOO_BUSY ? 'rate_limited' : 'model_unavailable'
}

/** The last failure of one model of a turn. */
export interface ModelFailure {
  readonly model: string
  readonly error: CriaError
}

/**
 * Makes the error that ends a turn when no recovery is left: the last failure, and what was tried.
 * @param before models that failed before, in order, with their errors.
 * @param timeLeft milliseconds until the deadline of the turn.
 */
export function givenUp(
  error: CriaError,
  attempts: number,
  { maxDelay }: RetryPolicy,
  before: readonly ModelFailure[] = [],
  timeLeft: number = Infinity,
): CriaError {
  const asked = error.retryable ? retryAfterOf(error) : undefined
  const tooLong = asked !== undefined && (asked > maxDelay || asked >= timeLeft)
  if (attempts === 1 && !tooLong) return error
  const { code, message, retryable, status, hint, details } = error
  const tried = attempts === 1 ? '' : ` Gave up after ${attempts} attempts.`
  const limit = asked !== undefined && asked > maxDelay ? '`retry.maxDelay`' : 'the turn has left'
  const wait = tooLong ? ` It requests a wait of ${Math.ceil(asked / 1000)} s, which is longer than ${limit}.` : ''
  const said = sentence(message)
  const others = before.map((failure) => `${failure.model}: ${sentence(failure.error.message)}`).join(' ')
  return new CriaError(code, `${said}${tried}${wait}${others === '' ? '' : ` Models asked before: ${others}`}`, {
    retryable,
    ...defined({ status, hint }),
    details: {
      ...details,
      attempts,
      ...(before.length === 0 ? {} : { modelsBefore: before.map(failureInfo) }),
    },
    cause: error,
  })
}

function failureInfo({ model, error: { code, message } }: ModelFailure): JsonObject {
  return { model, code, message }
}

function sentence(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`
}

/** Jitter for a wait named by the provider: a fifth of the wait, or the back-off bound, whichever is longer. */
const RETRY_AFTER_SPREAD = 0.2

/** Returns the delay in milliseconds; `undefined` if the provider requests a longer wait than the policy allows. */
function retryDelay(error: CriaError, state: AttemptState, policy: RetryPolicy): number | undefined {
  const asked = retryAfterOf(error)
  if (asked === undefined) return backoff(state.retries + 1, policy, state.random)
  if (asked > policy.maxDelay) return undefined
  const spread = Math.max(asked * RETRY_AFTER_SPREAD, backoff(state.retries + 1, policy, 1))
  return Math.ceil(asked + spread * state.random)
}

/** Returns the wait in milliseconds that the provider requests, if any. */
export function retryAfterOf({ details }: CriaError): number | undefined {
  const asked = details?.['retryAfterMs']
  return typeof asked === 'number' && asked > 0 ? asked : undefined
}
