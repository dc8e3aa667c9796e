/** Defines the input and the result of the model station. */

import type { StationContext } from '../core/context.ts'
import type { CriaError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { FinishReason, LanguageModel, ModelRequest, QuotedPassage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerLimits, Timeouts } from './limits.ts'
import type { ModelChain, CoolDowns } from './chain.ts'
import type { FallbackCode, RetryPolicy } from './recover.ts'
import type { ResponseCache } from './response-cache.ts'

export interface ModelContext extends StationContext {
  /** The models of the turn. The station starts at `current` and advances it when it switches models. */
  readonly chain: ModelChain
  readonly retry: RetryPolicy
  /** Errors that lead to a fallback although they would end the turn. */
  readonly fallbackOn: readonly FallbackCode[]
  /** Deadline of the turn in epoch milliseconds, by its clock; `Infinity` without a limit. */
  readonly deadline: number
  readonly timeouts: Timeouts
  readonly answerLimits: AnswerLimits
  /** `true`: yields `thinking` events; thinking is kept in the message in any case. */
  readonly showThinking: boolean
  readonly random: () => number
  /** Receives each request and its cost, so that the usage is complete even if the turn is aborted. */
  readonly ledger: Ledger
  /** Cool-downs of failed models; absent: none. */
  readonly coolDowns?: CoolDowns | undefined
  /** Checks by the reported usage whether the provider read the whole request; a returned error voids the answer. */
  readonly checkRead?: ((request: ModelRequest, model: LanguageModel, usage: Usage) => Promise<CriaError | undefined>) | undefined
  /** Notices about models that this turn has already yielded; each is yielded once. */
  readonly shownNotices: Set<string>
  /** Settings that are left out without a notice if a model does not accept them. */
  readonly unasked?: readonly string[] | undefined
  /** Response cache; absent: none. */
  readonly cache?: ResponseCache | undefined
}

export interface Ledger {
  /**
   * Called before each request: reserves its maximum cost. Returns the request with its output limited to the rest of the budget.
   * @throws CriaError `budget_exceeded` if the budget is used up; the request must then not be made.
   */
  reserve(model: LanguageModel, request: ModelRequest): MaybePromise<ModelRequest>
  /** Called once after each request, whatever its outcome. Returns its usage. */
  settle(model: LanguageModel, request: ModelRequest, attempt: Attempted): MaybePromise<Usage>
}

/** The outcome of a request. */
export interface Attempted {
  /** Usage as reported by the provider. */
  readonly usage: Usage
  /** The parts that arrived, to estimate usage that was not reported. */
  readonly parts: readonly Part[]
  /** `true`: the answer was complete; usage that is reported earlier is partial. */
  readonly finished: boolean
  /** `true`: free for this turn: the provider rejected or never received the request, or another turn pays for it. */
  readonly free: boolean
}

export interface Answer {
  readonly type: 'answer'
  readonly message: Message
  readonly model: LanguageModel
  readonly usage: Usage
  readonly finishReason: FinishReason
  readonly abstained: boolean
  /** Places of the quotes, reported by models that quote. Absent: citations are read from the text. */
  readonly citations?: readonly QuotedPassage[]
  /** `true`: the provider paused the answer, and continues it on the next request. */
  readonly paused: boolean
  readonly cacheHit: boolean
}

/** The request is larger than the model's window. */
export interface Overflow {
  readonly type: 'overflow'
  readonly error: CriaError
  readonly model: LanguageModel
}
