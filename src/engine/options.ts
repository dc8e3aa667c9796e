/** What `query()` takes, and what is wrong with it. */

import type { Budget } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/filter.ts'
import type { BotIdentity, NoticeEvent } from '../core/event.ts'
import type { CreateId } from '../core/id.ts'
import type { ContextSource } from '../core/injection.ts'
import { toMessages } from '../core/message.ts'
import type { MessageInput } from '../core/message.ts'
import type { CallSettings, LanguageModel, ResponseFormat, ThinkingEffort, ToolChoice } from '../core/model.ts'
import type { Recorder, TurnMetrics } from '../core/recorder.ts'
import type { Span, SpanMirror } from '../core/span.ts'
import type { PermissionChecker, Tool } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { CoolDowns } from '../model/cool-down.ts'
import type { RetryPolicy } from '../model/recover.ts'
import type { ResponseCache } from '../model/response-cache.ts'
import type { Timeouts } from '../model/watchdog.ts'
import { checkCompaction } from '../prepare/compact/room.ts'
import type { CompactionOptions } from '../prepare/compact/room.ts'
import type { WidenOptions } from '../prepare/passages/widen.ts'
import type { RerankChoice } from '../prepare/rerank.ts'
import { FOLLOW_UPS } from '../prepare/retrieve.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { checkTool } from '../tools/define-tool.ts'
import { parseRules } from '../tools/rules/rule.ts'
import type { ToolRules } from '../tools/rules/rule.ts'
import { describe } from '../util/check.ts'
import { misspelt } from '../util/nearest.ts'
import { isPromise } from '../util/promise.ts'
import { checkBudget, checkPrices } from './budget.ts'
import { checkModel } from './check-model.ts'
import type { EngineContextOptions } from './context-options.ts'

export interface EngineOptions extends CallSettings {
  /** What the user says: text, a message, or several. Either this, or `messages` that end with it, or both: then it comes last. */
  readonly prompt?: MessageInput
  /** The conversation so far, when no `sessionId` tells where to find it. */
  readonly messages?: MessageInput
  /** The system prompt. */
  readonly system?: string
  readonly model: LanguageModel
  /** Models to turn to when the first is not to be had, in order. */
  readonly fallbackModels?: readonly LanguageModel[]
  /** Answers in place of `model` what this turn asks for in particular, such as thinking; default none. */
  readonly specialist?: LanguageModel
  /**
   * `false`: `model` answers, or nobody does, whatever other models are named. Default true: a turn turns to another model when this one is not to
   * be had, too small or not made for it, and says so with `model_switch`.
   */
  readonly switchModels?: boolean
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  /** `false`: the turn is complete when the model has chosen its calls; none is run. Default true. */
  readonly executeTools?: boolean
  /** Absent: whatever needs permission is refused. */
  readonly hasPermissionsToUseTool?: PermissionChecker
  /** What may run without asking, has to be asked about, or never runs. */
  readonly rules?: ToolRules
  /** Called once a step with the usage of that step. */
  readonly onUpdateUsage?: (usage: Usage) => void
  readonly abortSignal?: AbortSignal
  /** Asks the provider to reason: `true` is `medium`. */
  readonly enableThinking?: boolean | ThinkingEffort
  /** Whether `thinking` events are yielded; default true. */
  readonly showThinking?: boolean
  /** One tool at a time, each asked about; default false. */
  readonly safeMode?: boolean
  /** Default 50. */
  readonly maxSteps?: number
  /** Tools that run at the same time at most; default 5. */
  readonly toolConcurrency?: number
  readonly responseFormat?: ResponseFormat
  /** `false` asks for one answer in one piece; default true. */
  readonly stream?: boolean
  readonly retrieve?: RetrievalOptions
  /** What goes into the request beside what is said; default nothing. */
  readonly context?: EngineContextOptions
  /** Answers that were given before; default none. */
  readonly cache?: ResponseCache
  /**
   * How often and how long a model is asked again. `maxRetries` counts the retries after the first attempt, for each model of a step: 2, the
   * default, makes three attempts, and 0 turns to the next model at once. (`maxRetries` of `retryWithBackoff` counts all attempts.)
   */
  readonly retry?: Partial<RetryPolicy>
  /** Remembers which models failed in turns before; default nothing does. */
  readonly coolDowns?: CoolDowns
  /** Milliseconds; `null` for no limit. */
  readonly timeouts?: Partial<Timeouts> & { readonly turn?: number | null }
  /**
   * What the turn may use: `tokens`, `costUsd`, `ms`, and together with others `session` and `day`, each `{ tokens, costUsd }`. Checked before
   * each request, whose output is limited to what is left; when nothing is left the turn ends with `budget_exceeded`. Default no limit.
   */
  readonly budget?: Budget
  /** Where the turn is written down; default nowhere. */
  readonly recorder?: Recorder
  /** Continues this session; excludes `messages`. */
  readonly sessionId?: string
  readonly bot?: BotIdentity
  /** Name of the turn's span; default `query`. */
  readonly operation?: string
  /** Told once of each query when it has ended, however it ended: where metrics go. What it throws harms nothing. */
  readonly onQueryCompleted?: (metrics: QueryMetrics) => void
  /** Yielded after `start`: what there is to say about how the turn was set up. */
  readonly notices?: readonly NoticeEvent[]
  /** Milliseconds from which a query counts as slow; default 30,000. */
  readonly slowAfter?: number
  /** The span that this turn belongs to; default the current one. */
  readonly span?: Span
  /** Where the spans of the turn are shown beside the recorder; default nowhere. */
  readonly spanMirror?: SpanMirror
  /** For tests: time, ids, chance. */
  readonly clock?: Clock
  readonly createId?: CreateId
  readonly random?: () => number
}

export interface QueryMetrics extends TurnMetrics {
  readonly type: 'query_completed'
  readonly state: 'done' | 'failed' | 'cancelled'
  readonly bot?: BotIdentity
  readonly turnId: string
  readonly sessionId: string
  readonly model: string
  readonly usage: Usage
  readonly costUsd: number | null
  readonly startedAt: number
  readonly endedAt: number
}

const TIMEOUTS = ['firstToken', 'idle', 'step', 'turn'] as const
const RETRIEVE_OPTIONS = Object.keys({
  docstore: true,
  memory: true,
  nResults: true,
  filter: true,
  rerank: true,
  widen: true,
  followUps: true,
} satisfies Record<keyof RetrievalOptions, true>)
const RULES = ['allow', 'ask', 'deny', 'afterUntrusted', 'root'] satisfies (keyof ToolRules)[]
const COMPACTION_OPTIONS = ['at', 'to', 'keepTurns', 'window'] satisfies (keyof CompactionOptions)[]
const RETRY_OPTIONS = ['maxRetries', 'initialDelay', 'maxDelay', 'afterOutput', 'coolDown'] satisfies (keyof RetryPolicy)[]

/** Every option, so that a misspelt one can be told; the compiler sees to it that none is missing. */
const OPTIONS = Object.keys({
  prompt: true,
  messages: true,
  system: true,
  model: true,
  fallbackModels: true,
  specialist: true,
  switchModels: true,
  tools: true,
  toolChoice: true,
  executeTools: true,
  hasPermissionsToUseTool: true,
  rules: true,
  onUpdateUsage: true,
  abortSignal: true,
  enableThinking: true,
  showThinking: true,
  safeMode: true,
  maxSteps: true,
  toolConcurrency: true,
  responseFormat: true,
  stream: true,
  retrieve: true,
  cache: true,
  context: true,
  retry: true,
  coolDowns: true,
  timeouts: true,
  budget: true,
  recorder: true,
  sessionId: true,
  bot: true,
  operation: true,
  onQueryCompleted: true,
  notices: true,
  slowAfter: true,
  span: true,
  spanMirror: true,
  clock: true,
  createId: true,
  random: true,
  temperature: true,
  maxOutputTokens: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  providerOptions: true,
} satisfies Record<keyof EngineOptions, true>)

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkOptions(options: EngineOptions): void {
  checkNames('query()', options, OPTIONS)
  checkModel('model', options.model)
  if (options.specialist !== undefined) checkModel('specialist', options.specialist)
  for (const [index, fallback] of (options.fallbackModels ?? []).entries()) checkModel(`fallbackModels[${index}]`, fallback)
  if (options.prompt === undefined && options.messages === undefined) {
    throw new ConfigurationError('query() needs a `prompt`, or `messages`.')
  }
  if (!saysSomething(options)) throw new ConfigurationError('The question is empty: say what you want to know.')
  if (options.retrieve?.docstore !== undefined && !asksSomething(options))
    throw new ConfigurationError('`retrieve` needs a message of the user: there is nothing to search for.')
  if (options.messages !== undefined && options.sessionId !== undefined) {
    throw new ConfigurationError(
      '`messages` and `sessionId` exclude each other: a session knows its messages. Leave one of them out.',
    )
  }
  if (options.sessionId !== undefined && options.recorder === undefined) {
    throw new ConfigurationError('`sessionId` needs a `recorder`: without a journal there is no session to continue.')
  }
  checkNames('`retrieve`', options.retrieve ?? {}, RETRIEVE_OPTIONS)
  checkNames('`retry`', options.retry ?? {}, RETRY_OPTIONS)
  checkNames('`timeouts`', options.timeouts ?? {}, TIMEOUTS)
  checkNames('`rules`', options.rules ?? {}, RULES)
  checkPort('recorder', options.recorder, 'openTurn', 'openRecorder()')
  checkPort('retrieve.docstore', options.retrieve?.docstore, 'retrieve', 'SqliteDocumentStore.open()')
  checkPort('retrieve.memory', options.retrieve?.memory, 'retrieve', 'SqliteDocumentStore.open()')
  if (options.abortSignal !== undefined && !(options.abortSignal instanceof AbortSignal))
    throw new ConfigurationError('`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.')
  checkNumber('maxSteps', options.maxSteps, 1)
  checkNumber('toolConcurrency', options.toolConcurrency, 1)
  checkRetrieval(options.retrieve ?? {})
  checkNumber('retry.maxRetries', options.retry?.maxRetries, 0)
  checkNumber('retry.initialDelay', options.retry?.initialDelay, 0)
  checkNumber('retry.maxDelay', options.retry?.maxDelay, 0)
  checkNumber('retry.coolDown', options.retry?.coolDown, 0)
  for (const limit of TIMEOUTS) checkNumber(`timeouts.${limit}`, options.timeouts?.[limit] ?? undefined, 1)
  if (options.budget !== undefined) {
    checkBudget(options.budget)
    checkPrices(options.budget, modelsNamed(options))
  }
  if (options.context?.compaction) {
    checkNames('`context.compaction`', options.context.compaction, COMPACTION_OPTIONS)
    checkCompaction(options.context.compaction)
  }
  checkSources(options.context?.sources ?? [])
  checkTools(options.tools ?? [])
  parseRules(options.rules ?? {})
  checkOneOf('rules.afterUntrusted', options.rules?.afterUntrusted, ['ask', 'trust'])
}

/**
 * JavaScript passes a misspelt name on without a word, and the option would have no effect. A name that is like none of ours may be the
 * caller's own.
 *
 * @throws ConfigurationError that names the option that was meant.
 */
export function checkNames(what: string, options: object, names: readonly string[]): void {
  checkObject(what, options)
  const slip = misspelt(options, names)
  if (slip === undefined) return
  throw new ConfigurationError(`${what} has no option \`${slip.key}\`: did you mean \`${slip.meant}\`?`)
}

/** @throws ConfigurationError when nothing was given, or something else. */
export function checkObject(what: string, options: unknown): void {
  if (typeof options !== 'object' || options === null) throw new ConfigurationError(`${what} takes an object of options.`)
}

function modelsNamed({ model, specialist, fallbackModels = [], switchModels }: EngineOptions): readonly LanguageModel[] {
  if (switchModels === false) return [model]
  return [model, ...(specialist === undefined ? [] : [specialist]), ...fallbackModels]
}

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkRetrieval({ nResults, filter, rerank, widen, followUps }: RetrievalOptions): void {
  checkNumber('retrieve.nResults', nResults, 0)
  checkFilter(filter)
  if (rerank !== undefined) {
    checkNames('`retrieve.rerank`', rerank, ['model', 'candidates', 'timeout'] satisfies (keyof RerankChoice)[])
    if (typeof rerank.model?.rerank !== 'function')
      throw new ConfigurationError(
        '`retrieve.rerank.model` must be a reranking model: one of the AI SDK, or an object with `ref` and `rerank`.',
      )
    checkNumber('retrieve.rerank.candidates', rerank.candidates, 1)
    checkNumber('retrieve.rerank.timeout', rerank.timeout, 1)
  }
  if (typeof widen === 'object') {
    checkNames('`retrieve.widen`', widen, ['chunks', 'best', 'within'] satisfies (keyof WidenOptions)[])
    checkNumber('retrieve.widen.chunks', widen.chunks, 0)
    checkNumber('retrieve.widen.best', widen.best, 0)
    checkOneOf('retrieve.widen.within', widen.within, ['section', 'document'])
  }
  checkOneOf('retrieve.followUps', followUps, FOLLOW_UPS)
}

function checkOneOf(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return
  throw new ConfigurationError(`\`${name}\` must be one of ${choices.join(', ')}, but is ${describe(value)}.`)
}

/** The last thing said must be the user's, or the outcome of a tool, and hold more than white space. */
function saysSomething({ prompt, messages }: EngineOptions): boolean {
  const last = toMessages([messages ?? [], prompt ?? []]).at(-1)
  if (last === undefined || last.role === 'assistant' || last.role === 'system') return false
  return last.parts.some((part) => part.type !== 'text' || part.text.trim() !== '')
}

function asksSomething({ prompt, messages }: EngineOptions): boolean {
  return toMessages([prompt ?? [], messages ?? []]).some(({ role }) => role === 'user')
}

/** What is most often wrong with these: nobody waited for the promise. */
function checkPort(name: string, value: object | undefined, method: string, maker: string): void {
  if (value === undefined || typeof Reflect.get(Object(value), method) === 'function') return
  const received = isPromise(value) ? 'a promise: await it' : describe(value)
  throw new ConfigurationError(`\`${name}\` must be what ${maker} resolves to, but is ${received}.`)
}

function checkNumber(name: string, value: number | undefined, least: number): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
    throw new ConfigurationError(`\`${name}\` must be a number of at least ${least}, but is ${describe(value)}.`)
  }
}

/**
 * One thing is easily given in place of a list of it.
 *
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkList(name: string, value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new ConfigurationError(`\`${name}\` must be a list of ${what}, but is ${describe(value)}.`)
}

/** @throws ConfigurationError that names the tool, what was expected and what came. */
export function checkTools(tools: readonly Tool[]): void {
  checkList('tools', tools, 'tools')
  const seen = new Set<string>()
  for (const tool of tools) {
    checkTool(tool)
    if (seen.has(tool.name))
      throw new ConfigurationError(`Two tools are called ${JSON.stringify(tool.name)}: a model could not tell them apart.`)
    seen.add(tool.name)
  }
}

function checkSources(sources: readonly ContextSource[]): void {
  checkList('context.sources', sources, 'sources')
  for (const source of sources) {
    if (typeof source?.load === 'function' && typeof source.name === 'string' && source.maxTokens >= 0) continue
    throw new ConfigurationError(
      '`context.sources` must hold objects with a `name`, a number of `maxTokens` and a function `load`; `project`, `recentFiles` and `gitStatus` are options of the query() of this package.',
    )
  }
}
