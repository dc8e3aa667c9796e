/** Types the options and the result of `query()`. */

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
import type { AnswerLimits } from '../model/ceilings.ts'
import type { CoolDowns } from '../model/cool-down.ts'
import type { FallbackCode, RetryPolicy } from '../model/recover.ts'
import type { ResponseCache } from '../model/response-cache.ts'
import type { Timeouts } from '../model/watchdog.ts'
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
 * Accepts the text of an answer (`undefined`), or rejects it. `goOn` is sent to the model as a message of the user and the turn goes on; with
 * `failure` the turn ends in that error, and `goOn` is only written down. The session does not keep an answer that was rejected.
 */
export type ReviewAnswer = (
  text: string,
) => MaybePromise<{ readonly goOn: string; readonly failure?: CriaError | undefined } | undefined>

/** The argument of `prepareStep`. */
export interface StepState {
  /** The step to come, from 1. */
  readonly step: number
  /** The conversation so far; the system prompt is part of it once the first step has been made. */
  readonly messages: readonly Message[]
  /** The model that is asked unless another one is named. */
  readonly model: string
}

/** Settings of one step; those left out stay as in the options of the turn. */
export interface StepChanges<Model = LanguageModel> {
  /** Asked in this step, before the models of the turn. */
  readonly model?: Model
  /** All tools of this step. */
  readonly tools?: readonly Tool[]
  /** For this step alone. */
  readonly toolChoice?: ToolChoice
  /** In place of the option `system`. */
  readonly system?: string
}

/** Decides before a step what is different about it; `undefined` changes nothing. */
export type PrepareStep<Model = LanguageModel> = (state: StepState) => MaybePromise<StepChanges<Model> | undefined>

/** The argument of `stopWhen`, after a step whose tools have run. */
export interface StepEnd extends StepState {
  /** The answer of the model in this step. */
  readonly message: Message
  /** Results of the tools of this step, in the order of the calls. */
  readonly toolResults: readonly Pick<ToolResult, 'id' | 'name' | 'content' | 'isError'>[]
  /** Of the turn so far. */
  readonly usage: Usage
  /** US dollars of the turn so far; `null`: not known. */
  readonly costUsd: number | null
}

/** Decides after a step whether the turn ends; `true` ends it with the finish reason `stop-when`. */
export type StopWhen = (end: StepEnd) => MaybePromise<boolean>

/** Options of the query loop, with models that are already resolved. */
export interface EngineOptions extends CallSettings {
  /** The question: text, a message, or several. Either this, or `messages` that end with it, or both: then it comes last. */
  readonly prompt?: MessageInput
  /** The conversation so far, when no `sessionId` tells where to find it. */
  readonly messages?: MessageInput
  /**
   * Goes on with a turn that ended as `waiting`, in place of a `prompt`; needs its `sessionId` and the `recorder` that has it. `decisions` holds
   * `true` or `false` for all calls that wait, or a decision for each by its id; calls without one are asked about again. A turn can be
   * decided once, as long as its session has not gone on: another attempt ends with `not_found`. Model, tools and rules are those given here.
   */
  readonly decide?: { readonly turnId: string; readonly decisions: boolean | Readonly<Record<string, PermissionAnswer>> }
  /** The system prompt: a text, or what a prompt of `prompt()` gives. */
  readonly system?: string | FilledPrompt
  /** The model that is asked first. */
  readonly model: LanguageModel
  /** Models to turn to when the first is not to be had, in order. */
  readonly fallbackModels?: readonly LanguageModel[]
  /**
   * Errors that would end the turn, and after which a fallback model is asked instead: `quota` (no credit left), `auth` (the key was refused). Default
   * none of them. Rate limits, overload, time-outs, lost connections and models that are gone always lead to a fallback.
   */
  readonly fallbackOn?: readonly FallbackCode[]
  /** Answers in place of `model` what this turn asks for in particular, such as thinking; default none. */
  readonly specialist?: LanguageModel
  /**
   * `false`: `model` answers, or nobody does, whatever other models are named. Default true: a turn turns to another model when this one is not to
   * be had, too small or not made for it, and says so with `model_switch`.
   */
  readonly switchModels?: boolean
  /** Tools that the model may call; default none. */
  readonly tools?: readonly Tool[]
  /** `required` and `{ tool }` hold for the first step; after it the model is free to answer. `prepareStep` can require a call in later ones. */
  readonly toolChoice?: ToolChoice
  /** `false`: the turn is complete when the model has chosen its calls; none is run. Default true. */
  readonly executeTools?: boolean
  /** Absent: whatever needs permission is refused. */
  readonly hasPermissionsToUseTool?: PermissionChecker
  /** Callbacks around prompts, tool calls and the end of the turn, which may refuse, change or add. */
  readonly hooks?: Hooks
  /** Mends a call of a tool that is not there, or whose arguments do not fit its schema; default the model is told and tries again. */
  readonly repairToolCall?: RepairToolCall
  /** Rules for tool calls that run without asking, are asked about, or never run. */
  readonly rules?: ToolRules
  /** Called once a step with the usage of that step. */
  readonly onUpdateUsage?: (usage: Usage) => void
  /** Aborting it ends the turn with `cancelled`. */
  readonly abortSignal?: AbortSignal | undefined
  /** Asks the provider to reason: `true` is `medium`. */
  readonly enableThinking?: boolean | ThinkingEffort
  /** Yields `thinking` events; default true. */
  readonly showThinking?: boolean
  /** One tool at a time, each asked about; default false. */
  readonly safeMode?: boolean
  /** Default 50. */
  readonly maxSteps?: number
  /** Called before each step: may change the model, the tools, the tool choice and the system prompt for this step alone. */
  readonly prepareStep?: PrepareStep
  /** Called after each step whose tools have run: `true` ends the turn, with `finishReason: 'stop-when'`. */
  readonly stopWhen?: StopWhen
  /** Turns that tools of this turn may make: how deep they may be nested, default 4, and how many there may be in all, default 100. */
  readonly nesting?: { readonly depth?: number; readonly turns?: number }
  /** Takes messages of the user while the turn runs. */
  readonly steering?: Steering | undefined
  /** Tools that run at the same time at most; default 5. */
  readonly toolConcurrency?: number
  /** Asks for JSON, that fits a schema if one is given; default text. */
  readonly responseFormat?: ResponseFormat
  /** `false` asks for one answer in one piece; default true. */
  readonly stream?: boolean
  /** Searches documents and memory before the first step; default nothing is searched. */
  readonly retrieve?: RetrievalOptions
  /**
   * How the citations of an answer over documents are checked. `'words'`, the default, compares words; `'model'` lets the model of the turn judge
   * in one call what words do not verify, `{ model }` another one, and a function of yours as you like; `false` checks nothing.
   */
  readonly verify?: VerifyChoice
  /** Context that a request holds beside the conversation; default none. */
  readonly context?: EngineContextOptions
  /** Answers that were given before; default none. */
  readonly cache?: ResponseCache
  /**
   * How often and how long a model is asked again. `maxRetries` counts the retries after the first attempt, for each model of a step: 2, the
   * default, makes three attempts, and 0 turns to the next model at once. (`retryWithBackoff` counts all attempts, in `maxAttempts`.)
   */
  readonly retry?: Partial<RetryPolicy>
  /** Remembers which models failed in turns before; default nothing does. */
  readonly coolDowns?: CoolDowns
  /**
   * Milliseconds; `null` for no limit. `firstToken` (120,000), `idle` (60,000), `whole` (290,000, for answers that are not streamed) and `step` bound one
   * attempt, `turn` the whole turn.
   */
  readonly timeouts?: Partial<Timeouts> & { readonly turn?: number | null }
  /** Limits of one answer, `null` for no limit; default 16 million characters of text, thinking and arguments each, and 1,000 calls. */
  readonly answerLimits?: Partial<AnswerLimits>
  /**
   * Limits of use: `tokens`, `costUsd`, `ms`, and together with others `session` and `day`, each `{ tokens, costUsd }`. Checked before
   * each request, whose output is limited to what is left; when nothing is left the turn ends with `budget_exceeded`. Default no limit.
   */
  readonly budget?: Budget
  /** Where the turn is written down; default nowhere, in a tool where the turn around it is. */
  readonly recorder?: Recorder | undefined
  /** Continues this session; excludes `messages`. */
  readonly sessionId?: string | undefined
  /**
   * The user whom the turn is made for: what the journal lists, counts and deletes by. A session belongs to the first user named in it; a turn
   * that names another one ends with `permission_denied`. 1 to 200 characters; default none, in a tool that of the turn around it.
   */
  readonly userId?: string | undefined
  /** Labels for the journal to list, count and delete by; 1 to 100 characters each. Default none, in a tool those of the turn around it. */
  readonly tags?: readonly string[] | undefined
  /** The bot that asks, for the journal; default none. */
  readonly bot?: BotIdentity
  /** Settings that nobody asked for in particular: that a model does not take one is not worth a notice. */
  readonly unasked?: readonly (keyof CallSettings)[]
  /** Checks the answer before the turn ends; default none. */
  readonly review?: ReviewAnswer
  /** Name of the turn's span; default `query`. */
  readonly operation?: string
  /** Told once of each query when it has ended, however it ended: where metrics go. What it throws harms nothing. */
  readonly onQueryCompleted?: (metrics: QueryMetrics) => void
  /** Yielded after `start`: what there is to say about how the turn was set up. */
  readonly notices?: readonly NoticeEvent[]
  /** Milliseconds from which a query counts as slow; default 30,000. */
  readonly slowAfter?: number
  /** The span that this turn belongs to; default the current one. */
  readonly span?: Span | undefined
  /** Where the spans of the turn are shown beside the recorder; default nowhere. */
  readonly spanMirror?: SpanMirror
  /** For tests: time, ids, chance. */
  readonly clock?: Clock
  /** Makes ids of turns and messages, for tests; default random ones. */
  readonly createId?: CreateId
  /** A number from 0 up to 1, for jitter; default `Math.random`. */
  readonly random?: () => number
}

/** The argument of `onQueryCompleted`: the figures of one turn. */
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
  /** The model that gave the last answer. */
  readonly model: string
  /** Tokens of all requests of the turn. */
  readonly usage: Usage
  /** US dollars; `null`: not known. */
  readonly costUsd: number | null
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. */
  readonly endedAt: number
}

/** The part of the option `context` that the engine itself understands. */
export interface EngineContextOptions {
  /** Looked up anew for each turn; default none. Those of the same place stand in this order. */
  readonly sources?: readonly ContextSource[]
  /** When older messages make room, and how; `false`: never. Default at 80 % of the window. */
  readonly compaction?: false | CompactionOptions
  /** Writes summaries of older messages, before the model of the turn is asked; default it alone is. Called when one is needed. */
  readonly summaryModel?: () => LanguageModel | undefined
}

/** The option `context` of the public `query()`, which makes sources of what is switched on. Default: nothing is. */
export interface ContextOptions extends EngineContextOptions {
  /** The working directory, from which project files and the repository are found; default that of the process. */
  readonly cwd?: string
  /** `AGENTS.md` and the like, from the root of the repository down to `cwd`. */
  readonly project?: boolean | ContextBudget
  /** Files that tools have read earlier in the session, where they have changed since or their text is no longer in the conversation. */
  readonly recentFiles?: boolean | ContextBudget
  /** The output of `git status` at the beginning of the turn. */
  readonly gitStatus?: boolean | ContextBudget
}

/** How much of the window of a model each kind of text may fill. */
export interface ContextBudget {
  /** Tokens at most; less where the model's context window is small. */
  readonly maxTokens?: number
}
