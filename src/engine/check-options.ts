/** Checks the options of `query()` before anything happens. */

import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/filter.ts'
import { HOOK_NAMES } from '../core/hook.ts'
import type { Hooks } from '../core/hook.ts'
import type { ContextSource } from '../core/injection.ts'
import { toMessages } from '../core/message.ts'
import type { LanguageModel, ToolChoice } from '../core/model.ts'
import { isFilledPrompt } from '../core/prompt.ts'
import type { Tool } from '../core/tool.ts'
import { checkCompaction } from '../prepare/compact/room.ts'
import type { CompactionOptions } from '../prepare/compact/room.ts'
import type { WidenOptions } from '../prepare/passages/widen.ts'
import type { RerankChoice } from '../prepare/rerank.ts'
import { FOLLOW_UPS, searching } from '../prepare/retrieve.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { checkTool } from '../tools/define-tool.ts'
import { parseRules } from '../tools/permissions/rule.ts'
import type { ToolRules } from '../tools/permissions/rule.ts'
import { describe, isRecord } from '../util/check.ts'
import { namesOf } from '../util/nearest.ts'
import { checkPrices } from './check-budget.ts'
import { checkModel } from './check-model.ts'
import { checkSettings, SETTINGS } from './check-settings.ts'
import { checkList, checkNames, checkNumber, checkOneOf, checkPort, checkType } from './check-values.ts'
import type { EngineOptions } from './options.ts'

const RULES = namesOf<ToolRules>({ allow: true, ask: true, deny: true, afterUntrusted: true, root: true })
const COMPACTION = namesOf<CompactionOptions>({ at: true, to: true, keepTurns: true, window: true })
const RERANK = namesOf<RerankChoice>({ model: true, candidates: true, timeout: true })
const WIDEN = namesOf<WidenOptions>({ chunks: true, best: true, within: true })
const RETRIEVE = namesOf<RetrievalOptions>({
  docstore: true,
  memory: true,
  nResults: true,
  filter: true,
  rerank: true,
  widen: true,
  followUps: true,
})
const OPTIONS = namesOf<EngineOptions>({
  prompt: true,
  decide: true,
  messages: true,
  system: true,
  model: true,
  fallbackModels: true,
  fallbackOn: true,
  specialist: true,
  switchModels: true,
  tools: true,
  toolChoice: true,
  executeTools: true,
  hasPermissionsToUseTool: true,
  rules: true,
  hooks: true,
  repairToolCall: true,
  onUpdateUsage: true,
  abortSignal: true,
  enableThinking: true,
  showThinking: true,
  safeMode: true,
  maxSteps: true,
  prepareStep: true,
  stopWhen: true,
  steering: true,
  nesting: true,
  toolConcurrency: true,
  responseFormat: true,
  stream: true,
  retrieve: true,
  verify: true,
  cache: true,
  context: true,
  retry: true,
  coolDowns: true,
  timeouts: true,
  answerLimits: true,
  budget: true,
  recorder: true,
  sessionId: true,
  userId: true,
  tags: true,
  bot: true,
  review: true,
  unasked: true,
  operation: true,
  onQueryCompleted: true,
  notices: true,
  slowAfter: true,
  span: true,
  spanMirror: true,
  clock: true,
  createId: true,
  random: true,
  ...SETTINGS,
})

const ANSWER_LIMITS = ['text', 'thinking', 'arguments', 'calls'] as const

/** What other calls, and other libraries, call what is there under another name. */
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

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkOptions(options: EngineOptions): void {
  checkNames('query()', options, OPTIONS, ELSEWHERE)
  checkModel('model', options.model)
  checkNames('`answerLimits`', options.answerLimits ?? {}, ANSWER_LIMITS)
  for (const limit of ANSWER_LIMITS) checkNumber(`answerLimits.${limit}`, options.answerLimits?.[limit] ?? undefined, 1)
  if (options.specialist !== undefined) checkModel('specialist', options.specialist)
  for (const [index, fallback] of (options.fallbackModels ?? []).entries()) checkModel(`fallbackModels[${index}]`, fallback)
  if (options.decide !== undefined) checkDecide(options.decide, options)
  else if (options.prompt === undefined && options.messages === undefined) {
    throw new ConfigurationError('query() needs a `prompt`, or `messages`.')
  } else if (!saysSomething(options)) throw new ConfigurationError('The question is empty: say what you want to know.')
  if (options.retrieve?.docstore !== undefined && options.decide === undefined && !asksSomething(options))
    throw new ConfigurationError('`retrieve` needs a message of the user: there is nothing to search for.')
  if (options.messages !== undefined && options.sessionId !== undefined) {
    throw new ConfigurationError(
      '`messages` and `sessionId` exclude each other: a session knows its messages. Leave one of them out.',
    )
  }
  if (options.sessionId === '') throw new ConfigurationError('`sessionId` is empty: leave it out to begin a session.')
  if (options.sessionId !== undefined && options.recorder === undefined) {
    throw new ConfigurationError('`sessionId` needs a `recorder`: without a journal there is no session to continue.')
  }
  checkNames('`retrieve`', options.retrieve ?? {}, RETRIEVE)
  if (options.retrieve !== undefined && options.retrieve.docstore === undefined && options.retrieve.memory === undefined)
    throw new ConfigurationError('`retrieve` needs a `docstore`, a `memory`, or both: there is nothing to search.')
  checkVerify(options.verify)
  checkNames('`rules`', options.rules ?? {}, RULES)
  checkPort('recorder', options.recorder, 'openTurn', 'openRecorder()')
  checkPort('steering', options.steering, 'delivered', 'new Steering()')
  checkPort('retrieve.docstore', options.retrieve?.docstore, 'retrieve', 'SqliteDocumentStore.open()')
  checkPort('retrieve.memory', options.retrieve?.memory, 'retrieve', 'SqliteDocumentStore.open()')
  if (options.abortSignal !== undefined && !(options.abortSignal instanceof AbortSignal))
    throw new ConfigurationError('`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.')
  checkMarks(options)
  if (!isFilledPrompt(options.system)) checkType('system', options.system, 'string')
  for (const name of ['sessionId', 'operation'] as const) checkType(name, options[name], 'string')
  for (const name of ['hasPermissionsToUseTool', 'onUpdateUsage', 'prepareStep', 'stopWhen', 'repairToolCall'] as const)
    checkType(name, options[name], 'function')
  for (const name of ['safeMode', 'showThinking', 'executeTools', 'stream'] as const) checkType(name, options[name], 'boolean')
  checkHooks(options.hooks)
  checkToolChoice(options)
  checkResponseFormat(options.responseFormat)
  checkNumber('slowAfter', options.slowAfter, 0)
  checkNumber('maxSteps', options.maxSteps, 1)
  checkNames('`nesting`', options.nesting ?? {}, ['depth', 'turns'])
  checkNumber('nesting.depth', options.nesting?.depth, 0)
  checkNumber('nesting.turns', options.nesting?.turns, 0)
  checkNumber('toolConcurrency', options.toolConcurrency, 1)
  checkRetrieval(options.retrieve ?? {})
  checkSettings(options)
  if (options.budget !== undefined) checkPrices(options.budget, modelsNamed(options))
  if (options.context?.compaction) {
    checkNames('`context.compaction`', options.context.compaction, COMPACTION)
    checkCompaction(options.context.compaction)
  }
  checkSources(options.context?.sources ?? [])
  checkTools(options.tools ?? [])
  parseRules(options.rules ?? {})
  checkOneOf('rules.afterUntrusted', options.rules?.afterUntrusted, ['ask', 'trust'])
}

function checkDecide(
  decide: NonNullable<EngineOptions['decide']>,
  { prompt, messages, sessionId, recorder, executeTools }: EngineOptions,
): void {
  checkNames('`decide`', decide, ['turnId', 'decisions'])
  if (typeof decide.turnId !== 'string' || decide.turnId === '')
    throw new ConfigurationError('`decide.turnId` must be the id of a turn that ended as `waiting`.')
  if (typeof decide.decisions !== 'boolean' && !isRecord(decide.decisions))
    throw new ConfigurationError(
      `\`decide.decisions\` must be true or false for all calls that wait, or { [id]: decision }, but is ${describe(decide.decisions)}.`,
    )
  if (prompt !== undefined || messages !== undefined)
    throw new ConfigurationError('`decide` goes on with what was asked: leave `prompt` and `messages` out.')
  if (executeTools === false)
    throw new ConfigurationError('`decide` runs calls, and `executeTools` is false: leave one of them out.')
  if (sessionId === undefined || recorder === undefined)
    throw new ConfigurationError('`decide` needs the `sessionId` of the turn, and the `recorder` whose journal has it.')
}

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkRetrieval({ docstore, nResults, filter, rerank, widen, followUps }: RetrievalOptions): void {
  checkNumber('retrieve.nResults', nResults, 0)
  checkFilter(filter)
  if (filter !== undefined && typeof docstore?.retrieve === 'function') searching(docstore)
  if (rerank !== undefined) {
    checkNames('`retrieve.rerank`', rerank, RERANK)
    if (typeof rerank.model?.rerank !== 'function')
      throw new ConfigurationError(
        '`retrieve.rerank.model` must be a reranking model: one of the AI SDK, or an object with `ref` and `rerank`.',
      )
    checkNumber('retrieve.rerank.candidates', rerank.candidates, 1)
    checkNumber('retrieve.rerank.timeout', rerank.timeout, 1)
  }
  if (typeof widen !== 'object') checkType('retrieve.widen', widen, 'boolean')
  else {
    checkNames('`retrieve.widen`', widen, WIDEN)
    checkNumber('retrieve.widen.chunks', widen.chunks, 0)
    checkNumber('retrieve.widen.best', widen.best, 0)
    checkOneOf('retrieve.widen.within', widen.within, ['section', 'document'])
  }
  checkOneOf('retrieve.followUps', followUps, FOLLOW_UPS)
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

function checkResponseFormat(format: EngineOptions['responseFormat']): void {
  if (format === undefined) return
  checkNames('`responseFormat`', format, ['type', 'schema', 'name'])
  checkOneOf('responseFormat.type', format.type, ['json'])
}

/** @throws ConfigurationError for what is no tool choice, or names a tool that is not there. */
export function checkToolChoice({
  toolChoice,
  tools = [],
}: {
  readonly toolChoice?: ToolChoice | undefined
  readonly tools?: readonly Tool[]
}): void {
  if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none' || toolChoice === 'required') return
  const named: unknown = typeof toolChoice === 'object' ? toolChoice?.tool : undefined
  if (typeof named !== 'string')
    throw new ConfigurationError(`\`toolChoice\` must be auto, none, required or { tool: name }, but is ${describe(toolChoice)}.`)
  if (!tools.some(({ name }) => name === named))
    throw new ConfigurationError(`\`toolChoice\` names the tool ${JSON.stringify(named)}, which is none of \`tools\`.`)
}

function checkHooks(hooks: Hooks | undefined): void {
  if (hooks === undefined) return
  checkNames('`hooks`', hooks, [...HOOK_NAMES, 'timeout'])
  for (const name of HOOK_NAMES) checkType(`hooks.${name}`, hooks[name], 'function')
  checkNumber('hooks.timeout', hooks.timeout, 1)
}

function checkSources(sources: readonly ContextSource[]): void {
  checkList('context.sources', sources, 'sources')
  for (const source of sources) {
    if (typeof source?.load === 'function' && typeof source.name === 'string' && source.maxTokens >= 0) {
      checkNumber('context.sources[].timeout', source.timeout, 1)
      continue
    }
    throw new ConfigurationError(
      '`context.sources` must hold objects with a `name`, a number of `maxTokens` and a function `load`; `project`, `recentFiles` and `gitStatus` are options of the query() of this package.',
    )
  }
}

/** @throws ConfigurationError that names the choices, and what came. */
export function checkVerify(verify: EngineOptions['verify']): void {
  if (verify === undefined || verify === false || verify === 'words' || verify === 'model' || typeof verify === 'function') return
  if (typeof verify === 'object' && verify !== null && 'model' in verify) {
    checkNames('`verify`', verify, ['model'])
    checkModel('verify.model', verify.model)
    return
  }
  throw new ConfigurationError(`\`verify\` must be false, 'words', 'model', { model } or a function, but is ${describe(verify)}.`)
}

/** All models that a turn may ask. */
export function modelsNamed({ model, specialist, fallbackModels = [], switchModels }: EngineOptions): readonly LanguageModel[] {
  if (switchModels === false) return [model]
  return [model, ...(specialist === undefined ? [] : [specialist]), ...fallbackModels]
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

/** @throws ConfigurationError for a user or a tag that is empty, too long, or could not be shown on a line. */
function checkMarks({ userId, tags = [], budget = {} }: EngineOptions): void {
  checkList('tags', tags, 'texts')
  const checkMark = (name: string, value: unknown, most: number): void => {
    if (typeof value === 'string' && value.length <= most && /^[^\p{Cc}\p{Cs}]+$/u.test(value)) return
    throw new ConfigurationError(
      `\`${name}\` must be a text of 1 to ${most} characters without control characters, but is ${describe(value)}.`,
    )
  }
  if (userId !== undefined) checkMark('userId', userId, 200)
  for (const [index, tag] of tags.entries()) checkMark(`tags[${index}]`, tag, 100)
  if (budget.user !== undefined && userId === undefined)
    throw new ConfigurationError('`budget.user` needs a `userId`: without one nobody is limited.')
  const unmarked = Object.keys(budget.tags ?? {}).find((tag) => !tags.includes(tag))
  if (unmarked !== undefined)
    throw new ConfigurationError(
      `\`budget.tags\` limits ${JSON.stringify(unmarked)}, which is not one of \`tags\`: add it there.`,
    )
}
