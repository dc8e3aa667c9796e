/** Checks the options of `query()` before any request is made: a table of checks for each option, then rules between options. */

import type { Budget, BudgetLimits } from '../../core/budget.ts'
import { ConfigurationError } from '../../core/error.ts'
import { checkFilter } from '../../core/store.ts'
import type { Hooks } from '../../core/hook.ts'
import { toMessages } from '../../core/message.ts'
import type { CallSettings, LanguageModel, ResponseFormat, ToolChoice } from '../../core/model.ts'
import { isFilledPrompt } from '../../core/prompt.ts'
import type { Tool } from '../../core/tool.ts'
import type { AnswerLimits } from '../../model/limits.ts'
import { FALLBACK_CODES } from '../../model/recover.ts'
import type { RetryPolicy } from '../../model/recover.ts'
import { checkCompaction } from '../../prepare/compact/room.ts'
import type { CompactionOptions } from '../../prepare/compact/room.ts'
import type { WidenOptions } from '../../prepare/passages/widen.ts'
import type { RerankChoice } from '../../prepare/rerank.ts'
import { FOLLOW_UPS, searching } from '../../prepare/retrieve.ts'
import type { RetrievalOptions } from '../../prepare/retrieve.ts'
import { checkTool } from '../../tools/define-tool.ts'
import { parseRules } from '../../tools/permissions/rule.ts'
import type { ToolRules } from '../../tools/permissions/rule.ts'
import { describe, isRecord } from '../../util/check.ts'
import { checkPrices } from '../budget/plan.ts'
import type { EngineOptions } from '../options.ts'
import {
  checkModel,
  atLeast,
  callback,
  checkGiven,
  checkList,
  checkNames,
  checkNumber,
  checkType,
  flag,
  listOf,
  mistake,
  objectOf,
  oneOf,
  orNull,
  port,
  recordOf,
  text,
  unchecked,
} from './values.ts'
import type { Check, Checks } from './values.ts'

/** Checks an object of options that may be `null`, which callers in JavaScript write for "none". */
function optional<Options>(checks: Checks<Options>): Check {
  return orNull(objectOf(checks))
}

/** Checks of the settings of a model call, which every bot accepts as well. */
export const SETTINGS: Checks<CallSettings> = {
  temperature: atLeast(0),
  maxOutputTokens: atLeast(1),
  topP: atLeast(0),
  topK: atLeast(0),
  presencePenalty: atLeast(-Infinity),
  frequencyPenalty: atLeast(-Infinity),
  seed: atLeast(-Infinity),
  stopSequences: listOf('texts', text),
  providerOptions: (name, value) => {
    if (!isRecord(value)) throw mistake(name, 'an object, by name of the provider', value)
  },
}

const LIMITS: Checks<BudgetLimits> = { tokens: atLeast(0), costUsd: atLeast(0) }
const SHARED_LIMITS = objectOf(LIMITS)
const BUDGET = objectOf<Budget>({
  ...LIMITS,
  ms: atLeast(1),
  session: SHARED_LIMITS,
  day: SHARED_LIMITS,
  user: SHARED_LIMITS,
  tags: recordOf(SHARED_LIMITS),
})

const EFFORTS: readonly unknown[] = [true, false, 'off', 'low', 'medium', 'high']

type SharedName = 'fallbackOn' | 'retry' | 'timeouts' | 'budget' | 'enableThinking' | 'switchModels' | 'onQueryCompleted'

/** Checks of options that bots share with `query()`. */
const SHARED: Checks<CallSettings & Pick<EngineOptions, SharedName>> = {
  ...SETTINGS,
  enableThinking: (name, value) => {
    if (!EFFORTS.includes(value)) throw mistake(name, "true, false, 'off', 'low', 'medium' or 'high'", value)
  },
  switchModels: flag,
  onQueryCompleted: callback,
  fallbackOn: listOf('error codes', oneOf(...FALLBACK_CODES)),
  retry: optional<RetryPolicy>({
    maxRetries: atLeast(0),
    initialDelay: atLeast(0),
    maxDelay: atLeast(0),
    coolDown: atLeast(0),
    afterOutput: oneOf('retry', 'error'),
  }),
  timeouts: optional<NonNullable<EngineOptions['timeouts']>>({
    firstToken: orNull(atLeast(1)),
    idle: orNull(atLeast(1)),
    whole: orNull(atLeast(1)),
    step: orNull(atLeast(1)),
    turn: orNull(atLeast(1)),
  }),
  budget: BUDGET,
}

const STORE = port('retrieve', 'SqliteDocumentStore.open()')
const WIDEN = objectOf<WidenOptions>({ chunks: atLeast(0), best: atLeast(0), within: oneOf('section', 'document') })
const RERANK = objectOf<RerankChoice>({ model: unchecked, candidates: atLeast(1), timeout: atLeast(1) })
const RETRIEVAL = objectOf<RetrievalOptions>({
  docstore: STORE,
  memory: STORE,
  nResults: atLeast(0),
  filter: (_, value) => checkFilter(value),
  rerank: (name, value) => {
    RERANK(name, value)
    if (typeof (value as Partial<RerankChoice>).model?.rerank !== 'function')
      throw new ConfigurationError(
        `\`${name}.model\` must be a reranking model: one of the AI SDK, or an object with \`ref\` and \`rerank\`.`,
      )
  },
  widen: (name, value) => (typeof value === 'object' ? WIDEN(name, value) : checkType(name, value, 'boolean')),
  followUps: oneOf(...FOLLOW_UPS),
})

const COMPACTION = objectOf<CompactionOptions>({ at: unchecked, to: unchecked, keepTurns: unchecked, window: unchecked })

/** Checks a text that is shown on one line. */
function mark(most: number): Check {
  return (name, value) => {
    if (typeof value === 'string' && value.length <= most && /^[^\p{Cc}\p{Cs}]+$/u.test(value)) return
    throw mistake(name, `a text of 1 to ${most} characters without control characters`, value)
  }
}

const OPTIONS: Checks<EngineOptions> = {
  ...SHARED,
  prompt: unchecked,
  messages: unchecked,
  decide: objectOf<NonNullable<EngineOptions['decide']>>({ turnId: unchecked, decisions: unchecked }),
  system: (name, value) => (isFilledPrompt(value) ? undefined : checkType(name, value, 'string')),
  model: unchecked,
  specialist: checkModel,
  fallbackModels: listOf('models', checkModel),
  tools: orNull((_, value) => checkTools(value as readonly Tool[])),
  toolChoice: unchecked,
  executeTools: flag,
  hasPermissionsToUseTool: callback,
  rules: optional<ToolRules>({
    allow: unchecked,
    ask: unchecked,
    deny: unchecked,
    afterUntrusted: oneOf('ask', 'trust'),
    root: unchecked,
  }),
  hooks: objectOf<Hooks>({
    onPrompt: callback,
    onToolCall: callback,
    onToolResult: callback,
    onStop: callback,
    timeout: atLeast(1),
  }),
  repairToolCall: callback,
  onUpdateUsage: callback,
  abortSignal: (_, value) => {
    if (!(value instanceof AbortSignal))
      throw new ConfigurationError('`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.')
  },
  showThinking: flag,
  safeMode: flag,
  maxSteps: atLeast(1),
  prepareStep: callback,
  stopWhen: callback,
  steering: port('delivered', 'new Steering()'),
  nesting: optional<NonNullable<EngineOptions['nesting']>>({ depth: atLeast(0), turns: atLeast(0) }),
  toolConcurrency: atLeast(1),
  responseFormat: objectOf<ResponseFormat>({ type: oneOf('json'), schema: unchecked, name: unchecked }),
  stream: flag,
  retrieve: RETRIEVAL,
  verify: (_, value) => checkVerify(value as EngineOptions['verify']),
  cache: unchecked,
  context: orNull((_, value) => checkContext(value as NonNullable<EngineOptions['context']>)),
  coolDowns: unchecked,
  answerLimits: optional<AnswerLimits>({
    text: orNull(atLeast(1)),
    thinking: orNull(atLeast(1)),
    arguments: orNull(atLeast(1)),
    calls: orNull(atLeast(1)),
  }),
  recorder: port('openTurn', 'openRecorder()'),
  sessionId: text,
  userId: mark(200),
  tags: listOf('texts', mark(100)),
  bot: unchecked,
  review: unchecked,
  unasked: unchecked,
  operation: text,
  notices: unchecked,
  slowAfter: atLeast(0),
  span: unchecked,
  spanMirror: unchecked,
  clock: unchecked,
  createId: unchecked,
  random: unchecked,
}

/** Option names of other calls and other libraries, with their spelling here. */
const ELSEWHERE = {
  systemPrompt: 'system',
  signal: 'abortSignal',
  maxIterations: 'maxSteps',
  maxRetries: 'retry: { maxRetries }',
  docstore: 'retrieve: { docstore }',
  memory: 'retrieve: { memory }',
  nResults: 'retrieve: { nResults }',
  filter: 'retrieve: { filter }',
  apiKey: 'model: createModel(name, { apiKey })',
  maxTokens: 'maxOutputTokens',
}

/** @throws ConfigurationError that names the option, the expected and the received value. */
export function checkOptions(options: EngineOptions): void {
  checkNames('query()', options, Object.keys(OPTIONS), ELSEWHERE)
  checkModel('model', options.model)
  checkGiven(options, OPTIONS)
  checkQuestion(options)
  checkSession(options)
  checkSearch(options.retrieve)
  checkToolChoice(options)
  checkTagsOfBudget(options)
  parseRules(options.rules ?? {})
  if (options.budget !== undefined) checkPrices(options.budget, modelsNamed(options))
}

/** @throws ConfigurationError that names the key, the expected and the received value. */
export function checkBudget(budget: Budget): void {
  BUDGET('budget', budget)
}

/** Checks the settings that `query()` and bots share. @throws ConfigurationError that names the option, the expected and the received value. */
export function checkSettings(options: object): void {
  checkGiven(options, SHARED)
}

function checkQuestion({ prompt, messages, decide, sessionId, recorder, executeTools, retrieve }: EngineOptions): void {
  if (decide !== undefined) {
    if (typeof decide.turnId !== 'string' || decide.turnId === '')
      throw new ConfigurationError('`decide.turnId` must be the id of a turn that ended as `waiting`.')
    if (typeof decide.decisions !== 'boolean' && !isRecord(decide.decisions))
      throw mistake('decide.decisions', 'true or false for all calls that wait, or { [id]: decision }', decide.decisions)
    if (prompt !== undefined || messages !== undefined)
      throw new ConfigurationError('`decide` continues a turn, which has its question: leave `prompt` and `messages` out.')
    if (executeTools === false)
      throw new ConfigurationError('`decide` runs tool calls, but `executeTools` is false: leave one of them out.')
    if (sessionId === undefined || recorder === undefined)
      throw new ConfigurationError('`decide` needs the `sessionId` of the turn, and the `recorder` whose journal holds it.')
    return
  }
  if (prompt === undefined && messages === undefined) throw new ConfigurationError('query() needs a `prompt`, or `messages`.')
  const given = toMessages([messages ?? [], prompt ?? []])
  const last = given.at(-1)
  const isAsked = last !== undefined && last.role !== 'assistant' && last.role !== 'system'
  if (!isAsked || !last.parts.some((part) => part.type !== 'text' || part.text.trim() !== ''))
    throw new ConfigurationError('The question is empty: say what you want to know.')
  if (retrieve?.docstore !== undefined && !given.some(({ role }) => role === 'user'))
    throw new ConfigurationError('`retrieve` needs a message of the user: there is nothing to search for.')
}

function checkSession({ messages, sessionId, recorder }: EngineOptions): void {
  if (sessionId === undefined) return
  if (messages !== undefined)
    throw new ConfigurationError(
      '`messages` and `sessionId` exclude each other: a session knows its messages. Leave one of them out.',
    )
  if (sessionId === '') throw new ConfigurationError('`sessionId` is empty: leave it out to begin a session.')
  if (recorder === undefined)
    throw new ConfigurationError('`sessionId` needs a `recorder`: without a journal there is no session to continue.')
}

function checkSearch(retrieve: RetrievalOptions | undefined): void {
  if (retrieve === undefined) return
  const { docstore, memory, filter } = retrieve
  if (docstore === undefined && memory === undefined)
    throw new ConfigurationError('`retrieve` needs a `docstore`, a `memory`, or both: there is nothing to search.')
  if (filter !== undefined && docstore !== undefined) searching(docstore)
}

/** @throws ConfigurationError that names the option, the expected and the received value. */
export function checkRetrieval(retrieve: RetrievalOptions): void {
  RETRIEVAL('retrieve', retrieve)
  checkSearch(retrieve)
}

/** @throws ConfigurationError that names the tool, the expected and the received value. */
export function checkTools(tools: readonly Tool[]): void {
  checkList('tools', tools, 'tools')
  const seen = new Set<string>()
  for (const tool of tools) {
    checkTool(tool)
    if (seen.has(tool.name))
      throw new ConfigurationError(`Two tools are called ${JSON.stringify(tool.name)}: a model could not distinguish them.`)
    seen.add(tool.name)
  }
}

/** @throws ConfigurationError for an invalid tool choice, or one that names an unknown tool. */
export function checkToolChoice({
  toolChoice,
  tools = [],
}: {
  readonly toolChoice?: ToolChoice | undefined
  readonly tools?: readonly Tool[]
}): void {
  if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none' || toolChoice === 'required') return
  const named: unknown = typeof toolChoice === 'object' ? toolChoice?.tool : undefined
  if (typeof named !== 'string') throw mistake('toolChoice', 'auto, none, required or { tool: name }', toolChoice)
  if (!tools.some(({ name }) => name === named))
    throw new ConfigurationError(`\`toolChoice\` names the tool ${JSON.stringify(named)}, which is not one of \`tools\`.`)
}

function checkContext({ compaction, ...context }: NonNullable<EngineOptions['context']>): void {
  const sources = context.sources ?? []
  if (compaction) {
    COMPACTION('context.compaction', compaction)
    checkCompaction(compaction)
  }
  checkList('context.sources', sources, 'sources')
  for (const source of sources) {
    if (typeof source?.load !== 'function' || typeof source.name !== 'string' || !(source.maxTokens >= 0))
      throw new ConfigurationError(
        '`context.sources` must hold objects with a `name`, a number of `maxTokens` and a function `load`; `project`, `recentFiles` and `gitStatus` are options of the query() of this package.',
      )
    checkNumber('context.sources[].timeout', source.timeout, 1)
  }
}

const JUDGE = objectOf<{ model: LanguageModel }>({ model: unchecked })

/** @throws ConfigurationError that names the choices and the received value. */
export function checkVerify(verify: EngineOptions['verify']): void {
  if (verify === undefined || verify === false || verify === 'words' || verify === 'model' || typeof verify === 'function') return
  if (typeof verify === 'object' && verify !== null && 'model' in verify) {
    JUDGE('verify', verify)
    return checkModel('verify.model', verify.model)
  }
  throw new ConfigurationError(`\`verify\` must be false, 'words', 'model', { model } or a function, but is ${describe(verify)}.`)
}

/** Returns all models that a turn may use. */
export function modelsNamed({ model, specialist, fallbackModels = [], switchModels }: EngineOptions): readonly LanguageModel[] {
  if (switchModels === false) return [model]
  return [model, ...(specialist === undefined ? [] : [specialist]), ...fallbackModels]
}

/** @throws ConfigurationError for a budget of a user or a tag that the turn does not name. */
function checkTagsOfBudget({ userId, tags = [], budget = {} }: EngineOptions): void {
  if (budget.user !== undefined && userId === undefined)
    throw new ConfigurationError('`budget.user` needs a `userId`: without it no user is limited.')
  const unmarked = Object.keys(budget.tags ?? {}).find((tag) => !tags.includes(tag))
  if (unmarked !== undefined)
    throw new ConfigurationError(
      `\`budget.tags\` limits ${JSON.stringify(unmarked)}, which is not one of \`tags\`: add it there.`,
    )
}
