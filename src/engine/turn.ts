/** A turn: its input, its state so far, and the context that its stations share. */

import { ATTRIBUTE } from '../core/span.ts'
import type { Clock } from '../core/clock.ts'
import type { CriaError } from '../core/error.ts'
import type { StartEvent } from '../core/event.ts'
import { createId as randomId, messageId } from '../core/id.ts'
import type { CreateId } from '../core/id.ts'
import { toMessages } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { LanguageModel, CallSettings, ThinkingEffort, ToolSpec } from '../core/model.ts'
import { isFilledPrompt, promptText } from '../core/prompt.ts'
import type { PromptVersion } from '../core/prompt.ts'
import type { Recorder, TurnOpen } from '../core/recorder.ts'
import { jsonSchemaOf } from '../core/schema.ts'
import type { Span } from '../core/span.ts'
import type { Tool } from '../core/tool.ts'
import type { ModelContext } from '../model/answer.ts'
import { DEFAULT_ANSWER_LIMITS, DEFAULT_TIMEOUTS } from '../model/limits.ts'
import { currentModel, switchModel, DEFAULT_COOL_DOWN, coolingLast } from '../model/chain.ts'
import type { ModelChain } from '../model/chain.ts'
import { temperatureFor } from '../model/fit.ts'
import type { RetryPolicy } from '../model/recover.ts'
import type { Conversation, RequestOptions, TurnInput } from '../prepare/conversation.ts'
import { questionOf } from '../prepare/conversation.ts'
import { toolsState } from '../tools/state.ts'
import type { ToolsState } from '../tools/state.ts'
import { DEFAULT_BACKOFF } from '../util/backoff.ts'
import { defined } from '../util/check.ts'
import { steadyClock } from '../util/clock.ts'
import { takenValues } from '../util/environment.ts'
import { sha256 } from '../util/hash.ts'
import { beginningOf } from '../util/lines.ts'
import { redact } from '../util/redact.ts'
import { TurnLedger } from './budget/ledger.ts'
import { processBudget } from './budget/memory-budget.ts'
import { SETTINGS } from './checks/options.ts'
import type { EngineOptions } from './options.ts'
import { refOf } from './parent.ts'
import type { Batch, ParentCall } from './parent.ts'
import { spanSink, startSpan } from './span.ts'

export const DEFAULT_MAX_STEPS = 50
export const DEFAULT_SLOW_AFTER = 30_000
/** Maximum characters of the question in its span. */
const MAX_QUERY_CHARS = 4000

export interface Turn {
  readonly options: EngineOptions
  readonly sessionId: string
  readonly turnId: string
  readonly clock: Clock
  readonly recorder: Recorder | undefined
  readonly ledger: TurnLedger
  readonly chain: ModelChain
  readonly span: Span
  readonly startedAt: number
  readonly ctx: ModelContext
  readonly request: RequestOptions
  readonly tools: ToolsState
  /** The tool call in which this turn was started. */
  readonly caller: ParentCall | undefined
  /** Number of turns started below this one. */
  readonly made: { turns: number }
  /** The current step, from 1; 0 before the first step. */
  step: number
  input: TurnInput
  conversation: Conversation | undefined
  /** Size in tokens of requests that a model refused as too large, by model. */
  readonly tooLarge: Map<string, number>
  /** Aborts the turn because its reader left or its time is up. */
  end(reason: CriaError): void
}

/** @param parent the span that was current when `query()` was called. */
export function beginTurn(options: EngineOptions, parent: Span | undefined, caller?: ParentCall, batch?: Batch): Turn {
  const clock = options.clock ?? steadyClock()
  const createId: CreateId = options.createId ?? randomId
  const sessionId = options.sessionId ?? createId('ses')
  const turnId = createId('turn')
  const ending = new AbortController()
  const signal = options.abortSignal === undefined ? ending.signal : AbortSignal.any([options.abortSignal, ending.signal])
  const input = inputOf(options)
  const request = requestOf(options)
  const temperature = temperatureOf(request, options.model)
  const span = startSpan(options.operation ?? 'query', {
    parent,
    clock,
    turnId,
    sink: spanSink(options.recorder),
    mirror: options.spanMirror,
    attributes: {
      [ATTRIBUTE.operation]: 'invoke_agent',
      [ATTRIBUTE.conversation]: sessionId,
      [ATTRIBUTE.query]: beginningOf(questionOf(input.messages), MAX_QUERY_CHARS),
      [ATTRIBUTE.model]: options.model.ref,
      ...(temperature === null ? {} : { [ATTRIBUTE.temperature]: temperature }),
      ...(options.bot === undefined ? {} : { [ATTRIBUTE.agent]: options.bot.name ?? options.bot.kind }),
    },
  })
  const startedAt = clock.now()
  const limits = [options.timeouts?.turn, options.budget?.ms].map((limit) => startedAt + (limit ?? Infinity))
  const deadline = Math.min(...limits, caller?.turn.ctx.deadline ?? Infinity, batch?.deadline ?? Infinity)
  const retry: RetryPolicy = {
    maxRetries: 2,
    afterOutput: 'retry',
    coolDown: DEFAULT_COOL_DOWN,
    ...DEFAULT_BACKOFF,
    ...options.retry,
  }
  const coolDowns = retry.coolDown === 0 ? undefined : options.coolDowns
  const models = modelsOf(options)
  const chain: ModelChain = { models: coolingLast(models, (model) => coolDowns?.of(model), startedAt), current: 0 }
  const ledger = new TurnLedger({
    turnId,
    sessionId,
    userId: options.userId,
    clock,
    budget: options.budget,
    store: () => options.recorder?.budget ?? processBudget(),
    parent: (batch ?? caller?.turn)?.ledger,
  })
  return {
    options,
    sessionId,
    turnId,
    clock,
    recorder: options.recorder,
    ledger,
    chain,
    span,
    startedAt,
    step: 0,
    input,
    request,
    tools: toolsState({ rules: options.rules, recorder: options.recorder, sessionId, parent: caller?.turn.tools }),
    caller,
    made: { turns: 0 },
    conversation: undefined,
    tooLarge: new Map(),
    end: (reason) => ending.abort(reason),
    ctx: {
      sessionId,
      turnId,
      signal,
      clock,
      createId,
      span,
      chain,
      ledger,
      retry,
      fallbackOn: options.fallbackOn ?? [],
      deadline,
      timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
      answerLimits: { ...DEFAULT_ANSWER_LIMITS, ...options.answerLimits },
      showThinking: options.showThinking ?? true,
      random: options.random ?? Math.random,
      cache: options.cache,
      coolDowns,
      shownNotices: new Set(),
      unasked: options.unasked,
    },
  }
}

/** Returns the models that the turn may use, in this order. */
function modelsOf({ model, fallbackModels = [], specialist, switchModels }: EngineOptions): readonly LanguageModel[] {
  if (switchModels === false) return [model]
  const models = [model, ...fallbackModels]
  const first = switchModel('specialized_task', 0, { models, specialist })
  return first === undefined || first === model ? models : [first, ...models]
}

/** Returns the first event. */
export function startOf({ options: { model, bot, decide }, caller }: Turn): StartEvent {
  return {
    type: 'start',
    model: model.ref,
    ...(bot === undefined ? {} : { bot }),
    ...(caller === undefined ? {} : { calledBy: refOf(caller) }),
    ...(decide === undefined ? {} : { decides: decide.turnId }),
  }
}

/** Returns the temperature sent to this model; `null`: none. */
export function temperatureOf({ settings: { temperature }, thinking }: RequestOptions, { facts }: LanguageModel): number | null {
  return temperatureFor(defined({ temperature, thinking }), facts) ?? null
}

/** Returns the row of the turn at its start. */
export function openingOf(turn: Turn, exclusive: boolean): TurnOpen {
  const { options, input, span } = turn
  const prompts = promptsOf(turn)
  return {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    ...(options.bot === undefined ? {} : { bot: options.bot }),
    model: options.model.ref,
    temperature: temperatureOf(turn.request, currentModel(turn.chain)),
    ...defined({ userId: options.userId, tags: options.tags }),
    ...(options.decide === undefined ? {} : { decides: options.decide.turnId }),
    question: questionOf(input.messages),
    promptHash: input.system === '' ? null : (prompts[0]?.hash ?? null),
    prompts,
    startedAt: turn.startedAt,
    traceId: span.traceId,
    spanId: span.spanId,
    exclusive,
  }
}

/** Returns the prompt versions of a turn. A system prompt that is plain text is a version named after the bot. */
function promptsOf({ options: { system, bot }, input }: Turn): readonly PromptVersion[] {
  const secrets = takenValues()
  const spoken = input.messages.flatMap(({ prompt }) => prompt ?? [])
  const bare = { name: bot?.name ?? bot?.kind ?? 'query', hash: sha256(input.system), template: input.system }
  const first = isFilledPrompt(system) ? system : bare
  return [...(input.system === '' ? [] : [first]), ...spoken].map(({ name, hash, template }) => ({
    name,
    hash,
    template: redact(template, secrets),
  }))
}

/**
 * Splits `messages`, which may hold a whole conversation: messages after the last answer are the question, the rest is history. If it ends in
 * tool results, the question before them still needs its answer. A leading system message is used as the system prompt if
 * `system` is absent.
 */
export function inputOf(options: Pick<EngineOptions, 'messages' | 'prompt' | 'system' | 'createId' | 'retrieve'>): TurnInput {
  const given = withUniqueIds(toMessages([options.messages ?? [], options.prompt ?? []]), [], options.createId ?? randomId)
  const first = given[0]
  const leads = options.system === undefined && first?.role === 'system'
  const said = leads ? given.slice(1) : given
  const end = said.findLastIndex(({ role }) => role === 'user') + 1
  const begin = said.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1
  const since = end === 0 ? [] : said.slice(end)
  return {
    system: promptText(options.system ?? (leads ? first.content : '')),
    history: end === 0 ? said : said.slice(0, begin),
    messages: said.slice(begin, end),
    ...(since.length === 0 ? {} : { since }),
    ...(options.retrieve === undefined ? {} : { retrieve: options.retrieve }),
  }
}

/** Assigns new ids to messages whose id occurs earlier: otherwise they would count as already stored. */
export function withUniqueIds(messages: readonly Message[], before: readonly Message[], createId: CreateId): readonly Message[] {
  const taken = new Set<string>(before.map(({ id }) => id))
  return messages.map((message) => {
    const own = taken.has(message.id) ? { ...message, id: messageId(createId('msg')) } : message
    taken.add(own.id)
    return own
  })
}

export function settingsOf(options: CallSettings): CallSettings {
  const names = Object.keys(SETTINGS) as (keyof CallSettings)[]
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
}

export function requestOf(options: EngineOptions): RequestOptions {
  const thinking = effortOf(options.enableThinking)
  return {
    settings: settingsOf(options),
    tools: (options.tools ?? []).map(specOf),
    stream: options.stream ?? true,
    ...defined({ toolChoice: options.toolChoice, responseFormat: options.responseFormat, thinking }),
  }
}

/** Drops a required tool choice after the first step: a model that must call a tool in each step could never answer. */
export function requestOfStep(request: RequestOptions, step: number): RequestOptions {
  const { toolChoice, ...rest } = request
  return step > 1 && (toolChoice === 'required' || typeof toolChoice === 'object') ? rest : request
}

function effortOf(enabled: EngineOptions['enableThinking']): ThinkingEffort | undefined {
  if (enabled === undefined || enabled === false) return undefined
  return enabled === true ? 'medium' : enabled
}

/** Returns a tool as sent to the model. */
export function specOf({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema: jsonSchemaOf(inputSchema, `tool ${JSON.stringify(name)}`) }
}
