/** Makes models from their names, including names of other libraries; finds the default model where none is named. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { checkNames, checkNumber, checkObject, checkType } from '../engine/checks/values.ts'
import { CONNECTION_OPTIONS } from '../providers/connection.ts'
import { createProviderModel } from '../providers/create.ts'
import type { AiSdkModel } from '../providers/ai-sdk/language-model.ts'
import type { ProviderOptions } from '../providers/create.ts'
import { createExtractiveModel, EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { definitionOf, isProvider, PROVIDER_NAMES } from '../providers/registry.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { describe, isRecord } from '../util/check.ts'
import { listens } from '../util/listens.ts'
import { namesOf, nearest } from '../util/nearest.ts'
import { POINTERS } from './config-schema.ts'
import type { CriaConfig, ModelPointer } from './config-schema.ts'

/** `provider/model`, a pointer, a model made by `createModel()`, or any AI SDK language model. */
export type ModelInput = string | LanguageModel | AiSdkModel

/** Options of `createModel()`: how to reach the provider, and facts about the model. */
export type ModelOptions = ProviderOptions

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Makes a model from its name. Loads nothing and sends no request until the model is used.
 *
 * @param ref `openai/…` (Responses API), `openai-chat/…` (Chat Completions), `anthropic/…`, `google/…`, `ollama/…`, the other providers of
 *   `cria models`, `openai-compatible/…` or `builtin/extractive`. Names that imply their provider (`gpt-4o`, `claude-…`) and names of other
 *   libraries (`gemini/…`, `ollama_chat/…`) are accepted; `ref` of the model is then the normalised name.
 * @throws ConfigurationError for an unknown provider, naming the known providers.
 */
export function createModel(ref: string, options: ModelOptions = {}): LanguageModel {
  if (typeof ref !== 'string')
    throw new ConfigurationError(`createModel() takes the name of a model, like openai/gpt-5-mini, but got ${describe(ref)}.`)
  checkModelOptions(options)
  const name = knownName(ref)
  return name === EXTRACTIVE_REF ? createExtractiveModel() : createProviderModel(name, options)
}

const OPTIONS = namesOf<ModelOptions>({
  ...CONNECTION_OPTIONS,
  facts: true,
  thinkTags: true,
  maxEventBytes: true,
  maxAnswerBytes: true,
})

const FACTS = namesOf<ModelFacts>({
  contextWindow: true,
  maxOutputTokens: true,
  price: true,
  systemRole: true,
  fixedTemperature: true,
  sampling: true,
  streaming: true,
  tools: true,
  images: true,
  thinking: true,
  structuredOutput: true,
  structuredOutputWithTools: true,
  writes: true,
  cutsSilently: true,
})

function checkModelOptions(options: ModelOptions): void {
  checkNames('createModel()', options, OPTIONS, { key: 'apiKey', url: 'baseURL' })
  checkType('apiKey', options.apiKey, 'string')
  checkType('fetch', options.fetch, 'function')
  checkType('thinkTags', options.thinkTags, 'boolean')
  checkNumber('maxEventBytes', options.maxEventBytes, 1)
  checkNumber('maxAnswerBytes', options.maxAnswerBytes, 1)
  if (options.facts !== undefined) checkNames('`facts`', options.facts, FACTS)
  if (options.headers === undefined) return
  checkObject('`headers`', options.headers)
  for (const [name, value] of Object.entries(options.headers)) checkType(`headers[${JSON.stringify(name)}]`, value, 'string')
}

/**
 * Resolves a pointer, an alias or a name to the name of a model.
 *
 * @throws ConfigurationError for a pointer that is not set, and for an unknown name, with the nearest alias.
 */
export function resolvePointer(name: string, config: CriaConfig): string {
  const { aliases = {} } = config
  if (Object.hasOwn(aliases, name)) return aliases[name] ?? name
  if (!isPointer(name)) {
    try {
      return knownName(name)
    } catch (thrown) {
      const close = nearest(name, Object.keys(aliases))
      if (close === undefined) throw thrown
      throw new ConfigurationError(
        `There is no model and no alias ${JSON.stringify(name)}. Did you mean ${JSON.stringify(close)}?`,
      )
    }
  }
  const target = config.models?.[name]
  if (target === undefined) {
    throw new ConfigurationError(
      `The model pointer ${JSON.stringify(name)} is not set: name a model for it under "models" in config.json.`,
    )
  }
  return knownName(target)
}

function isPointer(name: string): name is ModelPointer {
  return (POINTERS as readonly string[]).includes(name)
}

/** Returns the model that is used where only a key for its provider is configured. */
export function suggestedModel(provider: string): string | undefined {
  const suggested = isProvider(provider) ? definitionOf(provider).suggested : undefined
  return suggested === undefined ? undefined : `${provider}/${suggested}`
}

/** As `configuredModelRef`, but returns `builtin/extractive` where no model is configured; for the command line. */
export async function defaultModelRef(env: Environment, config: CriaConfig = {}, fetcher: typeof fetch = fetch): Promise<string> {
  return (await configuredModelRef(env, config, fetcher)) ?? EXTRACTIVE_REF
}

/**
 * Returns the default model: `CRIA_MODEL`, the pointer `main`, the first provider that has a key, the first model of the server at
 * `OPENAI_COMPATIBLE_BASE_URL`, the first model of a running Ollama; `undefined` where all of these are missing.
 */
export async function configuredModelRef(
  env: Environment,
  config: CriaConfig = {},
  fetcher: typeof fetch = fetch,
): Promise<string | undefined> {
  const named = env['CRIA_MODEL']
  if (named !== undefined && named !== '') return resolvePointer(named, config)
  if (config.models?.main !== undefined) return resolvePointer('main', config)
  for (const provider of PROVIDER_NAMES) {
    const { keyVariable, suggested } = definitionOf(provider)
    if (keyVariable !== undefined && suggested !== undefined && (env[keyVariable] ?? '') !== '') return `${provider}/${suggested}`
  }
  return (await firstCompatibleModel(env, fetcher)) ?? (await firstOllamaModel(env, fetcher))
}

/** Milliseconds to connect: short, so that a missing Ollama causes no noticeable delay, and is noticed before `fetch` is loaded. */
const CONNECTS = 300
/** Milliseconds to receive the list of models after connecting. */
const LISTS = 5000

/** Skips the connection probe of `firstOllamaModel`: the user has configured this server. */
async function firstCompatibleModel(env: Environment, fetcher: typeof fetch): Promise<string | undefined> {
  const base = env['OPENAI_COMPATIBLE_BASE_URL']
  if (base === undefined || base === '') return undefined
  const key = env['OPENAI_COMPATIBLE_API_KEY']
  const url = `${base.replace(/\/+$/, '')}/models`
  const id = await firstListed(url, fetcher, key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` })
  return id === undefined ? undefined : `openai-compatible/${id}`
}

async function firstOllamaModel(env: Environment, fetcher: typeof fetch): Promise<string | undefined> {
  const host = env['OLLAMA_HOST'] ?? '127.0.0.1:11434'
  const base = host.includes('://') ? host : `http://${host}`
  if (!URL.canParse(base) || (fetcher === fetch && !(await listens(new URL(base), CONNECTS)))) return undefined
  const name = await firstListed(new URL('/api/tags', base).href, fetcher, {})
  return name === undefined ? undefined : `ollama/${name}`
}

/** Returns the first entry of a list of models; `undefined` where the list is empty or the server does not answer. */
async function firstListed(
  url: string,
  fetcher: typeof fetch,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  try {
    const response = await fetcher(url, { headers, redirect: 'error', signal: AbortSignal.timeout(LISTS) })
    const [first] = (response.ok ? listedModels(await response.json()) : undefined) ?? []
    return first === '' ? undefined : first
  } catch {
    return undefined
  }
}

/** Reads `data[].id` of OpenAI, Anthropic and Ollama, `models[].name` of Google and of Ollama's own API; `undefined` for any other body. */
export function listedModels(body: unknown): readonly string[] | undefined {
  if (!isRecord(body) || !('data' in body || 'models' in body)) return undefined
  const list = 'data' in body ? body['data'] : body['models']
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown) => {
    const name = isRecord(item) ? (item['id'] ?? item['name']) : undefined
    return typeof name === 'string' ? [name] : []
  })
}

/** Makes a model that answers with `response` in place of `model`, without requests, cost or tokens. */
export function mockModel(response: string, { ref, facts }: Pick<LanguageModel, 'ref' | 'facts'>): LanguageModel {
  const script = (): ScriptedAnswer => ({ text: response.split(/(?<=\s)/), usage: ZERO_USAGE })
  return new ScriptedModel(script, { ref, facts: { ...facts, price: { input: 0, output: 0 } } })
}

/** Prefixes that other libraries use for our providers. */
const ALIASES: Readonly<Record<string, string>> = {
  gemini: 'google',
  claude: 'anthropic',
  ollama_chat: 'ollama',
  together_ai: 'together',
  togetherai: 'together',
  fireworks_ai: 'fireworks',
  mistralai: 'mistral',
  moonshotai: 'moonshot',
  grok: 'xai',
  'x-ai': 'xai',
  azure_openai: 'azure',
  openai_compatible: 'openai-compatible',
  openai_like: 'openai-compatible',
  custom_openai: 'openai-compatible',
  hosted_vllm: 'openai-compatible',
  litellm_proxy: 'openai-compatible',
  lm_studio: 'openai-compatible',
  lmstudio: 'openai-compatible',
  vllm: 'openai-compatible',
}

/** Name patterns that imply a provider. OpenAI's open-weight models are excluded: other providers serve them. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-(?!oss)|chatgpt-|o\d(?:-|$))/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
  [/^(?:mistral|ministral|codestral|devstral|magistral|pixtral)-[a-z]+/, 'mistral'],
  [/^deepseek-(?:chat|reasoner|v\d)/, 'deepseek'],
  [/^grok-/, 'xai'],
  [/^sonar(?:-|$)/, 'perplexity'],
  [/^kimi-/, 'moonshot'],
]

const OF_A_PACKAGE = (name: string): string =>
  `cria does not speak its API: pass a model of the package ${name} as \`model\`, or name one of another provider.`

/** Providers of other libraries that have no name here, with advice. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  bedrock: OF_A_PACKAGE('@ai-sdk/amazon-bedrock'),
  sagemaker: OF_A_PACKAGE('@ai-sdk/amazon-bedrock'),
  vertex_ai: `The same models are google/…, with a key of Google AI Studio. For Vertex itself pass a model of the package @ai-sdk/google-vertex.`,
  cohere: OF_A_PACKAGE('@ai-sdk/cohere'),
  cohere_chat: OF_A_PACKAGE('@ai-sdk/cohere'),
  replicate: OF_A_PACKAGE('@ai-sdk/replicate'),
  huggingface: 'Use openai-compatible/… with OPENAI_COMPATIBLE_BASE_URL=https://router.huggingface.co/v1.',
  'text-completion-openai': 'Models that only complete texts are not supported: name a chat model, openai/… for example.',
}

/**
 * Normalises the name of a model: `gpt-4o` becomes `openai/gpt-4o`, `gemini/gemini-2.5-flash` becomes `google/gemini-2.5-flash`.
 *
 * @throws ConfigurationError for an unknown name, with names that would work.
 */
export function knownName(name: string): string {
  const slash = name.indexOf('/')
  const provider = name.slice(0, Math.max(0, slash))
  const known = [...PROVIDER_NAMES, 'builtin']
  if (slash === name.length - 1 || slash === 0) throw malformed(name)
  if (slash < 0) {
    const lower = name.toLowerCase()
    const owner = BARE.find(([pattern]) => pattern.test(lower))?.[1]
    if (owner !== undefined) return `${owner}/${lower}`
    const [first = '', ...rest] = name.split(':')
    const named = entryOf(ALIASES, first.toLowerCase()) ?? first.toLowerCase()
    if (known.includes(named) && named !== 'builtin') {
      if (rest.join(':') !== '') return `${named}/${rest.join(':')}`
      const example = definitionOf(named).suggested
      throw new ConfigurationError(
        `A model is named provider/model, and ${JSON.stringify(name)} is a provider: ${named}/${example ?? '…'}, for example. \`cria models\` lists the models.`,
      )
    }
    if (name === '' || /\s/.test(name)) throw malformed(name)
    const shown = name.slice(0, 100)
    throw new ConfigurationError(
      `A model is named provider/model, and ${JSON.stringify(shown)} has no provider. Write ollama/${shown} for a local model, or groq/${shown}, openrouter/${shown}, together/${shown} for a hosted one.`,
    )
  }
  if (provider === 'builtin' && name !== EXTRACTIVE_REF)
    throw new ConfigurationError(`The only builtin model is ${EXTRACTIVE_REF}, but this is ${JSON.stringify(name)}.`)
  if (known.includes(provider)) return name
  const alias = entryOf(ALIASES, provider)
  if (alias !== undefined) return `${alias}${name.slice(slash)}`
  const advice = entryOf(ELSEWHERE, provider)
  if (advice !== undefined) throw new ConfigurationError(`There is no provider ${JSON.stringify(provider)}. ${advice}`)
  const close = nearest(provider, known)
  const meant =
    close === undefined
      ? `. The providers are ${known.join(', ')}. Any other server with Chat Completions is openai-compatible${name.slice(slash, 100)}, with OPENAI_COMPATIBLE_BASE_URL.`
      : `; did you mean ${JSON.stringify(`${close}${name.slice(slash)}`)}?`
  throw new ConfigurationError(`There is no provider ${JSON.stringify(provider.slice(0, 100))}${meant}`)
}

function entryOf(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

function malformed(name: string): ConfigurationError {
  return new ConfigurationError(
    `A model is named provider/model, like openai/gpt-5-mini, but this is ${JSON.stringify(name.slice(0, 100))}.`,
  )
}
