/** Decides what to do when an attempt fails: the whole policy in one pure function. */

import { CriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import type { JsonObject } from '../core/json.ts'
import { backoff } from '../util/backoff.ts'
import type { BackoffPolicy } from '../util/backoff.ts'
import { defined } from '../util/check.ts'

/** How failed attempts are repeated. */
export interface RetryPolicy extends BackoffPolicy {
  /** Retries after the first attempt, for each model of a step; default 2. */
  readonly maxRetries: number
  /**
   * After part of an answer was shown: `retry` (default) takes it back with a `reset` event and tries again, `error` ends the turn, for readers that
   * cannot forget (pipes).
   */
  readonly afterOutput: 'retry' | 'error'
  /** Milliseconds for which a model that was turned away from is asked last, default 60,000; 0: every turn begins with the first one. */
  readonly coolDown: number
}

/** Errors that end a turn unless they are named in `fallbackOn`: another model, with another account, may answer. */
export const FALLBACK_CODES: readonly ['auth', 'quota'] = ['auth', 'quota']
export type FallbackCode = (typeof FALLBACK_CODES)[number]

/** Milliseconds that are waited for one model at most while another one stands by that has not failed. */
const WAIT_BESIDE_FALLBACK = 3000

export interface AttemptState {
  /** Retries already made with this model. */
  readonly retries: number
  /** Something of this attempt has been shown. */
  readonly shown: boolean
  /** Another model is left to turn to; `resting`: it failed a moment ago as well. */
  readonly fallback: 'none' | 'resting' | 'healthy'
  /** Milliseconds until the turn is over; `Infinity` without a limit. */
  readonly timeLeft: number
  /** Between 0 and 1, for jitter. */
  readonly random: number
}

export type Recovery =
  | { readonly action: 'retry'; readonly delay: number }
  /** `wait`: milliseconds after which this model may be asked again, where only the length of the wait speaks against it. */
  | { readonly action: 'switch'; readonly reason: SwitchReason; readonly wait?: number }
  /** Only the loop can help: it compacts, or looks for a larger model. */
  | { readonly action: 'overflow' }
  | { readonly action: 'fail' }

/** The kind of each error, from which follows what to do. `transient` ones may pass by themselves. */
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

/** @param fallbackOn errors that another model is asked after although they are final; see `EngineOptions.fallbackOn`. */
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

/** Tells whether another model, or the same one later, may answer all the same: the request itself is not at fault. */
export function isOfModel({ code, retryable }: CriaError): boolean {
  return KIND[code] !== undefined || retryable || (FALLBACK_CODES as readonly ErrorCode[]).includes(code)
}

/** Status of providers that have too many requests from everybody. */
const TOO_BUSY = 529

/** Why a model is turned away from that failed with this error. */
export function switchReason({ code, status }: CriaError): SwitchReason {
  return code === 'rate_limited' || status === TOO_BUSY ? 'rate_limited' : 'model_unavailable'
}

/** The last failure of one model of a turn. */
export interface ModelFailure {
  readonly model: string
  readonly error: CriaError
}

/**
 * Makes the error that a turn ends with when nothing helped: the last failure, and what was tried.
 * @param before models that were asked and given up before, in order: each is named with what it failed of.
 * @param timeLeft milliseconds until the turn is over.
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
  const tried = attempts === 1 ? '' : ` This was attempt ${attempts}; the ones before failed too.`
  const limit = asked !== undefined && asked > maxDelay ? 'is waited for' : 'the turn has left'
  const wait = tooLong ? ` It wants to be asked again in ${Math.ceil(asked / 1000)} s, which is longer than ${limit}.` : ''
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

/** Clients that were told the same time to come back do so over a fifth of it, or over the bound that doubles with each retry, whichever is longer. */
const RETRY_AFTER_SPREAD = 0.2

/** `undefined` when the provider asks for a longer wait than the policy allows. */
function retryDelay(error: CriaError, state: AttemptState, policy: RetryPolicy): number | undefined {
  const asked = retryAfterOf(error)
  if (asked === undefined) return backoff(state.retries + 1, policy, state.random)
  if (asked > policy.maxDelay) return undefined
  const spread = Math.max(asked * RETRY_AFTER_SPREAD, backoff(state.retries + 1, policy, 1))
  return Math.ceil(asked + spread * state.random)
}

/** Milliseconds that the provider asks to wait, where it does. */
export function retryAfterOf({ details }: CriaError): number | undefined {
  const asked = details?.['retryAfterMs']
  return typeof asked === 'number' && asked > 0 ? asked : undefined
}
