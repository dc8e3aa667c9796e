/** The public `query()`: resolves names of models, built-in context and caches, then calls the engine, which knows only ports. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { ConfigurationError } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import type { ContextSource } from '../core/injection.ts'
import type { LanguageModel } from '../core/model.ts'
import type { Recorder } from '../core/recorder.ts'
import type { RerankingModel } from '../core/retrieval-models.ts'
import { checkOptions } from '../engine/checks/options.ts'
import { checkList, checkNames, checkObject } from '../engine/checks/values.ts'
import type {
  ContextOptions,
  EngineContextOptions,
  EngineOptions,
  PrepareStep,
  StepChanges,
  VerifyChoice,
} from '../engine/options.ts'
import { query as engineQuery } from '../engine/query.ts'
import { currentSpan } from '../engine/span.ts'
import { CoolDowns } from '../model/chain.ts'
import { ResponseCache } from '../model/response-cache.ts'
import type { RerankChoice } from '../prepare/rerank.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { createRerankingModel } from '../providers/reranking/create.ts'
import type { AiSdkRerankingModel } from '../providers/reranking/create.ts'
import { hostTracing } from '../recorders/otel/mirror.ts'
import { defined, describe, isRecord } from '../util/check.ts'
import { namesOf } from '../util/nearest.ts'
import type { ModelInput } from './models.ts'
import { defaultModel, quickModel, resolveModel, specialistFor } from './open-model.ts'

/** Reranks retrieved passages with a model. */
export interface RerankSettings extends Omit<RerankChoice, 'model'> {
  /** The model that ranks passages against the question. */
  readonly model: RerankingModel | AiSdkRerankingModel
}

/** The stores to search, and how passages are put into the request. */
export interface RetrieveOptions extends Omit<RetrievalOptions, 'rerank'> {
  /** Reranks the results of the document store; when the model fails, the order of the store is kept. Default no reranking. */
  readonly rerank?: RerankSettings
}

type Chosen =
  | 'model'
  | 'fallbackModels'
  | 'specialist'
  | 'cache'
  | 'coolDowns'
  | 'context'
  | 'notices'
  | 'retrieve'
  | 'spanMirror'
  | 'verify'
  | 'prepareStep'

/** Options of `query()`; see `EngineOptions` for those not related to the choice of a model. */
export interface QueryOptions extends Omit<EngineOptions, Chosen> {
  /**
   * `provider/model`, a pointer (`main`, `quick`, `task`, `reasoning`), a model of `createModel()`, or any AI SDK language model. Default: `CRIA_MODEL`, the
   * pointer `main`, the first provider with a key, the first model of the server at `OPENAI_COMPATIBLE_BASE_URL`, that of a running Ollama;
   * without any of these a ConfigurationError.
   */
  readonly model?: ModelInput
  /** Fallback models, tried in order when `model` cannot answer; default none. */
  readonly fallbackModels?: readonly ModelInput[]
  /** Replaces `model` for turns with special needs; default: with `enableThinking` the model of the pointer `reasoning`. */
  readonly specialist?: ModelInput
  /** Called before each step; may return another model, tools, tool choice or system prompt for this step. */
  readonly prepareStep?: PrepareStep<ModelInput>
  /** Retrieves passages for the answer, and puts them into the request; default no retrieval. */
  readonly retrieve?: RetrieveOptions
  /** Context added to the request, and how a long conversation is shortened; default no added context. */
  readonly context?: ContextOptions
  /**
   * Reuses answers to equal requests: `true` uses the cache of this process (100 answers, 5 minutes), `'journal'` a cache in the file of the
   * recorder, shared by all processes that use it; or pass your own cache. Default false.
   */
  readonly cache?: CacheChoice
  /**
   * How the citations of an answer over documents are verified. `'words'`, the default, compares words; `'model'` lets the model of the turn judge
   * in one call the citations that words do not verify, `{ model }` another model; or pass a function. `false` verifies nothing.
   */
  readonly verify?: VerifyChoice<ModelInput>
}

/**
 * Answers a question and streams all events of the turn, typed. The last event is `complete`, `cancelled` or `error`; the generator's
 * return value is the result of a complete turn. Leaving the generator early cancels the turn.
 *
 * @throws ConfigurationError at once when the options are wrong; throws nothing after the first event.
 */
export function query(options: QueryOptions): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  checkObject('query()', options)
  const span = options.span ?? currentSpan()
  const { fallbackModels: named = [] } = options
  checkList('fallbackModels', named, 'models')
  const fallbackModels = named.map(resolved)
  const { cache: wanted, context: around, retrieve, verify, specialist, prepareStep, ...rest } = options
  const spanMirror = hostTracing()
  const cache = chooseCache(wanted, options.recorder)
  const known = {
    ...rest,
    fallbackModels,
    coolDowns: sharedCoolDowns(),
    ...defined({ span, spanMirror, cache }),
    ...(verify === undefined ? {} : { verify: resolveVerify(verify) }),
    ...(specialist === undefined ? {} : { specialist: resolved(specialist) }),
    ...(prepareStep === undefined ? {} : { prepareStep: resolving(prepareStep) }),
    ...(retrieve === undefined ? {} : { retrieve: resolveRetrieval(retrieve) }),
    context: { summaryModel: quickModel, ...(around === undefined ? undefined : resolveContext(around)) },
  }
  if (options.model !== undefined) return engineQuery(withModel(known, resolved(options.model)))
  checkOptions({ ...known, model: NOT_YET_KNOWN })
  // The turn starts at the first read, but belongs to the tool that called query().
  const here = AsyncLocalStorage.snapshot()
  return withDefaultModel(known, here)
}

/** Resolves the name of the model. Other values are left to the checks of the engine. */
export function resolveVerify(verify: VerifyChoice<ModelInput>): VerifyChoice {
  const isNamed = typeof verify === 'object' && verify !== null && verify.model !== undefined
  return isNamed ? { ...verify, model: resolved(verify.model) } : (verify as VerifyChoice)
}

/** @throws ConfigurationError when `rerank.model` is not a model. */
export function resolveRetrieval<Options extends Pick<RetrieveOptions, 'rerank'>>(
  options: Options,
): Omit<Options, 'rerank'> & Pick<RetrievalOptions, 'rerank'> {
  checkObject('`retrieve`', options)
  const { rerank, ...rest } = options
  // The engine reports a `rerank` that is not an object.
  if (rerank === undefined || typeof rerank !== 'object') return options as typeof rest
  return { ...rest, rerank: { ...rerank, model: createRerankingModel(rerank.model) } }
}

function resolving(prepareStep: PrepareStep<ModelInput>): PrepareStep {
  // In JavaScript it may be of another type, which the engine reports.
  if (typeof prepareStep !== 'function') return prepareStep
  return async (state) => {
    const changes = await prepareStep(state)
    if (typeof changes?.model === 'undefined') return changes as StepChanges | undefined
    return { ...changes, model: resolved(changes.model) }
  }
}

async function* withDefaultModel(
  options: Omit<EngineOptions, 'model'>,
  here: ReturnType<typeof AsyncLocalStorage.snapshot>,
): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  const model = named(await defaultModel())
  return yield* here(() => engineQuery(withModel(options, model)))
}

function withModel(options: Omit<EngineOptions, 'model'>, model: LanguageModel): EngineOptions {
  const specialist = options.specialist ?? specialistFor(model, options)
  return { ...options, model, ...defined({ specialist }) }
}

/** Stands in for the default model while the other options are checked. */
const NOT_YET_KNOWN: EngineOptions['model'] = {
  ref: 'default',
  facts: { contextWindow: null, maxOutputTokens: null, price: { input: 0, output: 0 } },
  stream: () => {
    throw new TypeError('The default model is not known yet.')
  },
}

/** The origin of a model; models of one origin share a rate-limit cool-down. */
const keys = new WeakMap<LanguageModel, unknown>()
let coolDowns: CoolDowns | undefined

function sharedCoolDowns(): CoolDowns {
  coolDowns ??= new CoolDowns((model) => keys.get(model) ?? model)
  return coolDowns
}

function resolved(input: ModelInput): LanguageModel {
  const model = resolveModel(input)
  return typeof input === 'string' ? named(model) : withOrigin(model, input)
}

/** Records name, server and key as the origin of the model; the quoting model has no rate limit. */
function named(model: LanguageModel): LanguageModel {
  return model.ref === EXTRACTIVE_REF ? model : withOrigin(model, `${model.ref} ${model.identity}`)
}

function withOrigin(model: LanguageModel, origin: unknown): LanguageModel {
  keys.set(model, origin)
  return model
}

/**
 * `true`: the cache of this process (100 answers, 5 minutes). `'journal'`: the same in the file of the recorder, for all processes that share it.
 * An object: your own cache.
 */
export type CacheChoice = boolean | 'journal' | ResponseCache

let responses: ResponseCache | undefined
/** One cache per recorder of this process, so that equal requests at the same time are sent once. */
const kept = new WeakMap<Recorder, ResponseCache>()

/** @throws ConfigurationError for any other value, and for `'journal'` where the recorder has no cache. */
function chooseCache(choice: CacheChoice | undefined, recorder: Recorder | undefined): ResponseCache | undefined {
  if (choice === undefined || choice === false) return undefined
  if (choice === true) return (responses ??= new ResponseCache())
  if (choice instanceof ResponseCache) return choice
  if (choice === 'journal') return keptIn(recorder)
  throw new ConfigurationError(`\`cache\` must be true, false, 'journal' or a ResponseCache, but is ${JSON.stringify(choice)}.`)
}

function keptIn(recorder: Recorder | undefined): ResponseCache {
  if (recorder?.cache === undefined) {
    throw new ConfigurationError(
      recorder === undefined
        ? "`cache: 'journal'` needs a `recorder`: without a journal there is no file to keep answers in."
        : "`cache: 'journal'` cannot be used: this recorder keeps no answers. Take `cache: true`.",
    )
  }
  let cache = kept.get(recorder)
  if (cache === undefined) {
    cache = new ResponseCache({ store: recorder.cache })
    kept.set(recorder, cache)
  }
  return cache
}

type BuiltIn = 'project' | 'recentFiles' | 'gitStatus'

/** `maxTokens` are defaults that the options override. */
const BUILT_IN: Readonly<Record<BuiltIn, Omit<ContextSource, 'load'>>> = {
  project: { name: 'project', maxTokens: 8000, isStable: true },
  recentFiles: { name: 'files', maxTokens: 16_000 },
  gitStatus: { name: 'git', maxTokens: 2000 },
}

const CONTEXT_OPTIONS = namesOf<ContextOptions>({
  project: true,
  recentFiles: true,
  gitStatus: true,
  cwd: true,
  sources: true,
  compaction: true,
  summaryModel: true,
})

/**
 * Resolves the options of `context` to context sources, in their order in the request: project, files, git.
 *
 * @throws ConfigurationError that names the option, the expected and the received value.
 */
function resolveContext(options: ContextOptions): EngineContextOptions {
  checkNames('`context`', options, CONTEXT_OPTIONS)
  const { project, recentFiles, gitStatus, cwd = process.cwd(), sources = [], ...rest } = options
  checkList('context.sources', sources, 'sources')
  const builtIn = Object.entries({ project, recentFiles, gitStatus }).flatMap(([key, option]): ContextSource[] => {
    if (option === undefined || option === false) return []
    const name = key as BuiltIn
    return [
      {
        ...BUILT_IN[name],
        maxTokens: tokensOf(name, option),
        // The code that reads files and runs git is loaded by the first turn that uses it: most processes never do.
        load: async (request) => (await import('./context/built-in.ts')).LOADERS[name](request, { cwd, env: process.env }),
      },
    ]
  })
  return { ...rest, sources: [...builtIn, ...sources] }
}

function tokensOf(name: BuiltIn, option: NonNullable<ContextOptions[BuiltIn]>): number {
  const usual = BUILT_IN[name].maxTokens
  if (typeof option === 'boolean') return usual
  if (!isRecord(option))
    throw new ConfigurationError(`\`context.${name}\` must be true, false or { maxTokens }, but is ${describe(option)}.`)
  checkNames(`\`context.${name}\``, option, ['maxTokens'])
  const { maxTokens = usual } = option
  if (typeof maxTokens === 'number' && maxTokens >= 0) return maxTokens
  throw new ConfigurationError(
    `\`context.${name}.maxTokens\` must be a number of at least 0, but is ${String(maxTokens)}; \`context.${name}: false\` switches it off.`,
  )
}
