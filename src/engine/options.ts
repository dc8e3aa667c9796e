/** Defines the options and the metrics of `query()`. */

import type { Budget } from '../core/budget.ts'
import type { ClaimVerifier } from '../core/citation.ts'
import type { Clock } from '../core/clock.ts'
import type { CriaError } from '../core/error.ts'
import type { BotIdentity, NoticeEvent } from '../core/event.ts'
import type { Hooks } from '../core/hook.ts'
import type { CreateId } from '../core/id.ts'
import type { ContextSource } from '../core/injection.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Message, MessageInput } from '../core/message.ts'
import type { CallSettings, LanguageModel, ResponseFormat, ThinkingEffort, ToolChoice } from '../core/model.ts'
import type { FilledPrompt } from '../core/prompt.ts'
import type { Recorder, TurnMetrics } from '../core/recorder.ts'
import type { Span, SpanMirror } from '../core/span.ts'
import type { PermissionAnswer, PermissionChecker, RepairToolCall, Tool, ToolResult } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerLimits, Timeouts } from '../model/limits.ts'
import type { CoolDowns } from '../model/chain.ts'
import type { FallbackCode, RetryPolicy } from '../model/recover.ts'
import type { ResponseCache } from '../model/response-cache.ts'
import type { CompactionOptions } from '../prepare/compact/room.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import type { ToolRules } from '../tools/permissions/rule.ts'
import type { Steering } from './steering.ts'

/** @see EngineOptions.verify */
export type VerifyChoice<Model = LanguageModel> =
  | false
  | 'words'
  | 'model'
  | {
      /** The model that is asked as a judge. */
      readonly model: Model
    }
  | ClaimVerifier

/**
 * Accepts the text of an answer (`undefined`) or rejects it. `goOn` is sent to the model as a user message and the turn continues; with
 * `failure` the turn ends in that error, and `goOn` is only recorded. A rejected answer does not stay in the session's history.
 */
export type ReviewAnswer = (
  text: string,
) => MaybePromise<{ readonly goOn: string; readonly failure?: CriaError | undefined } | undefined>

/** The argument of `prepareStep`. */
export interface StepState {
  /** The next step, from 1. */
  readonly step: number
  /** The conversation so far; includes the system prompt after the first step. */
  readonly messages: readonly Message[]
  /** The model of the step, unless `prepareStep` names another. */
  readonly model: string
}

/** Settings of one step; those left out stay as in the options of the turn. */
export interface StepChanges<Model = LanguageModel> {
  /** The model to try first in this step, before the models of the turn. */
  readonly model?: Model
  /** The tools of this step, replacing those of the turn. */
  readonly tools?: readonly Tool[]
  /** The tool choice of this step. */
  readonly toolChoice?: ToolChoice
  /** Replaces the option `system`. */
  readonly system?: string
}

/** Returns changes for the next step; `undefined` changes nothing. */
export type PrepareStep<Model = LanguageModel> = (state: StepState) => MaybePromise<StepChanges<Model> | undefined>

/** The argument of `stopWhen`, after a step whose tools have run. */
export interface StepEnd extends StepState {
  /** The answer of the model in this step. */
  readonly message: Message
  /** Results of the tools of this step, in the order of the calls. */
  readonly toolResults: readonly Pick<ToolResult, 'id' | 'name' | 'content' | 'isError'>[]
  /** Usage of the turn so far. */
  readonly usage: Usage
  /** US dollars of the turn so far; `null`: unknown. */
  readonly costUsd: number | null
}

/** Decides after a step whether the turn ends; `true` ends it with the finish reason `stop-when`. */
export type StopWhen = (end: StepEnd) => MaybePromise<boolean>

/** Options of the query loop, with models that are already resolved. */
export interface EngineOptions extends CallSettings {
  /** The question: text, a message, or several. Give this, or `messages` that end with it, or both: then `prompt` comes last. */
  readonly prompt?: MessageInput
  /** The conversation so far; excludes `sessionId`. */
  readonly messages?: MessageInput
  /**
   * Continues a turn that ended as `waiting`, instead of a `prompt`; needs its `sessionId` and the `recorder` that holds it. `decisions` is
   * `true` or `false` for all waiting calls, or decisions by call id; permission for calls without a decision is requested again. A turn can
   * be decided once, unless its session has continued: otherwise `not_found`. Model, tools and rules are those given here.
   */
  readonly decide?: { readonly turnId: string; readonly decisions: boolean | Readonly<Record<string, PermissionAnswer>> }
  /** The system prompt: a text, or a filled-in prompt of `prompt()`. */
  readonly system?: string | FilledPrompt
  /** The model to try first. */
  readonly model: LanguageModel
  /** Models to try in this order if the first is unavailable. */
  readonly fallbackModels?: readonly LanguageModel[]
  /**
   * Further errors that lead to a fallback model instead of ending the turn: `quota` (no credit left), `auth` (key refused). Default none.
   * Rate limits, overload, time-outs, lost connections and unavailable models always lead to a fallback.
   */
  readonly fallbackOn?: readonly FallbackCode[]
  /** Replaces `model` if the turn needs a special capability, such as thinking; default none. */
  readonly specialist?: LanguageModel
  /**
   * `false`: only `model` may answer, even if other models are named. Default true: the turn switches to another model, with a
   * `model_switch` event, if this one is unavailable, too small or lacks a capability.
   */
  readonly switchModels?: boolean
  /** Tools that the model may call; default none. */
  readonly tools?: readonly Tool[]
  /** `required` and `{ tool }` apply to the first step only, so that the model can answer later. `prepareStep` can require a call in later steps. */
  readonly toolChoice?: ToolChoice
  /** `false`: the turn ends when the model has made its calls, without running them. Default true. */
  readonly executeTools?: boolean
  /** Decides about calls that need permission. Absent: they are refused. */
  readonly hasPermissionsToUseTool?: PermissionChecker
  /** Callbacks around prompts, tool calls and the end of the turn, which may refuse, change or add. */
  readonly hooks?: Hooks
  /** Repairs a call of an unknown tool or with invalid arguments; default: the error is sent to the model, which tries again. */
  readonly repairToolCall?: RepairToolCall
  /** Rules for tool calls: which run without permission, need permission, or never run. */
  readonly rules?: ToolRules
  /** Called once per step with the usage of that step. */
  readonly onUpdateUsage?: (usage: Usage) => void
  /** Aborting it ends the turn with `cancelled`. */
  readonly abortSignal?: AbortSignal | undefined
  /** Asks the provider to reason: `true` is `medium`. */
  readonly enableThinking?: boolean | ThinkingEffort
  /** Yields `thinking` events; default true. */
  readonly showThinking?: boolean
  /** Runs one tool at a time and requests permission for each; default false. */
  readonly safeMode?: boolean
  /** Maximum number of steps; default 50. */
  readonly maxSteps?: number
  /** Called before each step; may change the model, tools, tool choice and system prompt of this step. */
  readonly prepareStep?: PrepareStep
  /** Called after each step whose tools have run: `true` ends the turn, with `finishReason: 'stop-when'`. */
  readonly stopWhen?: StopWhen
  /** Limits of turns started by tools of this turn: nesting depth (default 4) and total number (default 100). */
  readonly nesting?: { readonly depth?: number; readonly turns?: number }
  /** Queue of user messages for the running turn. */
  readonly steering?: Steering | undefined
  /** Maximum number of tools that run at the same time; default 5. */
  readonly toolConcurrency?: number
  /** Requests JSON, matching a schema if one is given; default text. */
  readonly responseFormat?: ResponseFormat
  /** `false` requests the whole answer at once; default true. */
  readonly stream?: boolean
  /** Searches documents and memory before the first step; default no search. */
  readonly retrieve?: RetrievalOptions
  /**
   * How citations of an answer over documents are checked. `'words'` (default) compares words. `'model'` also asks the model of the turn, in one
   * call, about statements that words do not verify; `{ model }` asks another model, a function decides itself. `false` checks nothing.
   */
  readonly verify?: VerifyChoice
  /** Context that a request holds beside the conversation; default none. */
  readonly context?: EngineContextOptions
  /** Cache of earlier answers; default none. */
  readonly cache?: ResponseCache
  /**
   * Retries of failed requests. `maxRetries` counts retries after the first attempt, for each model of a step: the default 2 makes
   * three attempts, 0 switches to the next model at once. (`maxAttempts` of `retryWithBackoff` counts all attempts.)
   */
  readonly retry?: Partial<RetryPolicy>
  /** Remembers models that failed in earlier turns; default none. */
  readonly coolDowns?: CoolDowns
  /**
   * Time-outs in milliseconds; `null` for no limit. `firstToken` (120,000), `idle` (60,000), `whole` (290,000, for answers that are not
   * streamed) and `step` limit one attempt, `turn` the whole turn.
   */
  readonly timeouts?: Partial<Timeouts> & { readonly turn?: number | null }
  /** Limits of one answer, `null` for no limit; default 16 million characters of text, thinking and arguments each, and 1,000 calls. */
  readonly answerLimits?: Partial<AnswerLimits>
  /**
   * Limits of use: `tokens`, `costUsd`, `ms`, and shared with other turns `session` and `day`, each `{ tokens, costUsd }`. Checked before each
   * request, whose output is limited to the rest; once the budget is used up the turn ends with `budget_exceeded`. Default no limit.
   */
  readonly budget?: Budget
  /** The journal of the turn; default none, in a tool that of the enclosing turn. */
  readonly recorder?: Recorder | undefined
  /** Continues this session; excludes `messages`. */
  readonly sessionId?: string | undefined
  /**
   * The user of the turn, by whom the journal lists, counts and deletes. A session belongs to the first user named in it; a turn that names
   * another user ends with `permission_denied`. 1 to 200 characters; default none, in a tool that of the enclosing turn.
   */
  readonly userId?: string | undefined
  /** Labels by which the journal lists, counts and deletes; 1 to 100 characters each. Default none, in a tool those of the enclosing turn. */
  readonly tags?: readonly string[] | undefined
  /** The bot that asks, for the journal; default none. */
  readonly bot?: BotIdentity
  /** Settings that the caller did not choose: no notice if a model does not accept them. */
  readonly unasked?: readonly (keyof CallSettings)[]
  /** Checks the answer before the turn ends; default none. */
  readonly review?: ReviewAnswer
  /** Name of the turn's span; default `query`. */
  readonly operation?: string
  /** Called once when the query has ended, in any way, with its metrics. Errors that it throws are ignored. */
  readonly onQueryCompleted?: (metrics: QueryMetrics) => void
  /** Notices about the setup of the turn, yielded after `start`. */
  readonly notices?: readonly NoticeEvent[]
  /** Milliseconds from which a query counts as slow; default 30,000. */
  readonly slowAfter?: number
  /** The parent span of the turn; default the current span. */
  readonly span?: Span | undefined
  /** Mirrors the spans of the turn in other tracing; default none. */
  readonly spanMirror?: SpanMirror
  /** Time source, for tests; default the system clock. */
  readonly clock?: Clock
  /** Makes ids of turns and messages, for tests; default random ones. */
  readonly createId?: CreateId
  /** A number from 0 up to 1, for jitter; default `Math.random`. */
  readonly random?: () => number
}

/** The argument of `onQueryCompleted`: the metrics of one turn. */
export interface QueryMetrics extends TurnMetrics {
  readonly type: 'query_completed'
  /** How the turn ended. */
  readonly state: 'done' | 'failed' | 'cancelled'
  /** The bot that asked; absent for a plain `query()`. */
  readonly bot?: BotIdentity
  /** The turn. */
  readonly turnId: string
  /** Its session. */
  readonly sessionId: string
  /** The trace that its spans belong to; see `getSpans()`. */
  readonly traceId: string
  /** The model of the last answer. */
  readonly model: string
  /** Tokens of all requests of the turn. */
  readonly usage: Usage
  /** US dollars; `null`: unknown. */
  readonly costUsd: number | null
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. */
  readonly endedAt: number
}

/** The part of the option `context` that the engine handles itself. */
export interface EngineContextOptions {
  /** Context sources, loaded anew for each turn; default none. Sources of the same position keep this order. */
  readonly sources?: readonly ContextSource[]
  /** When and how older messages are compacted; `false`: never. Default at 80 % of the window. */
  readonly compaction?: false | CompactionOptions
  /** Returns the model to try first for summaries of older messages; default the model of the turn. Called when needed. */
  readonly summaryModel?: () => LanguageModel | undefined
}

/** The option `context` of the public `query()`, with switches for built-in sources. Default: all off. */
export interface ContextOptions extends EngineContextOptions {
  /** Working directory, used to find project files and the repository; default that of the process. */
  readonly cwd?: string
  /** `AGENTS.md` and the like, from the root of the repository down to `cwd`. */
  readonly project?: boolean | ContextBudget
  /** Files that tools read earlier in the session, if they have changed since or their text is no longer in the conversation. */
  readonly recentFiles?: boolean | ContextBudget
  /** The output of `git status` at the start of the turn. */
  readonly gitStatus?: boolean | ContextBudget
}

/** Limit of the context window that a source may use. */
export interface ContextBudget {
  /** Maximum number of tokens; lowered for models with a small context window. */
  readonly maxTokens?: number
}
