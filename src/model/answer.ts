/** Types the input and the result of the model station. */

import type { StationContext } from '../core/context.ts'
import type { CriaError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { FinishReason, LanguageModel, ModelRequest, QuotedPassage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerLimits } from './ceilings.ts'
import type { ModelChain } from './chain.ts'
import type { CoolDowns } from './cool-down.ts'
import type { FallbackCode, RetryPolicy } from './recover.ts'
import type { ResponseCache } from './response-cache.ts'
import type { Timeouts } from './watchdog.ts'

export interface ModelContext extends StationContext {
  /** The model that answers, then those to turn to; the station starts at `current` and leaves it where it ended. */
  readonly chain: ModelChain
  readonly retry: RetryPolicy
  /** Final errors after which a fallback is asked all the same. */
  readonly fallbackOn: readonly FallbackCode[]
  /** When the turn is over, by the clock of the turn in epoch milliseconds; `Infinity` without a limit. */
  readonly deadline: number
  readonly timeouts: Timeouts
  readonly answerLimits: AnswerLimits
  /** `thinking` events are yielded; thinking is kept either way. */
  readonly showThinking: boolean
  readonly random: () => number
  /** Told of each request that leaves and what it cost, so that nothing is lost when the turn is cut off. */
  readonly ledger: Ledger
  /** Absent: nothing is remembered of models that failed. */
  readonly coolDowns?: CoolDowns | undefined
  /** Judges, by what the provider has counted, whether it has read the whole request; an error takes the answer back. */
  readonly checkRead?: ((request: ModelRequest, model: LanguageModel, usage: Usage) => Promise<CriaError | undefined>) | undefined
  /** Notices about models that this turn has had already: each is told once. */
  readonly told: Set<string>
  /** Settings that are left out without a notice where a model does not take them. */
  readonly unasked?: readonly string[] | undefined
  /** Absent: every request is made. */
  readonly cache?: ResponseCache | undefined
}

export interface Ledger {
  /**
   * Called before each request: what it may cost is set aside. Returns the request, its output limited to what is left.
   * @throws CriaError `budget_exceeded` when nothing is left; the request is then not to be made.
   */
  reserve(model: LanguageModel, request: ModelRequest): MaybePromise<ModelRequest>
  /** Called once after each request, however it ended. Returns what it counts as. */
  settle(model: LanguageModel, request: ModelRequest, attempt: Attempted): MaybePromise<Usage>
  /** An answer for which no request was made. */
  free(): void
}

/** The outcome of a request. */
export interface Attempted {
  /** As the provider told it. */
  readonly usage: Usage
  /** The parts that came, for an estimate where the provider tells nothing. */
  readonly parts: readonly Part[]
  /** The answer came to its end; what a provider tells of it before is only a beginning. */
  readonly finished: boolean
  /** It costs this turn nothing: the provider turned the request away, or never got it, or another turn pays for it. */
  readonly free: boolean
}

export interface Answer {
  readonly type: 'answer'
  readonly message: Message
  readonly model: LanguageModel
  readonly usage: Usage
  readonly finishReason: FinishReason
  readonly abstained: boolean
  /** Of a model that quotes: where its quotes stand. Absent: they are read from the text. */
  readonly citations?: readonly QuotedPassage[]
  /** The provider has interrupted the answer, and goes on with it when it is asked again. */
  readonly paused: boolean
  readonly cacheHit: boolean
}

/** The request is larger than the model's window. */
export interface Overflow {
  readonly type: 'overflow'
  readonly error: CriaError
  readonly model: LanguageModel
}
