/** Opens models with the user's configuration: base URL, key, headers and facts; chooses the models for thinking and for summaries. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'
import type { EngineOptions } from '../engine/options.ts'
import { fromAiSdkModel, isAiSdkModel } from '../providers/ai-sdk/language-model.ts'
import { checkKey } from '../providers/connection.ts'
import { PROVIDER_NAMES } from '../providers/registry.ts'
import { defined } from '../util/check.ts'
import { environment } from '../util/environment.ts'
import { loadConfig } from './config.ts'
import type { CriaConfig } from './config-schema.ts'
import { configuredModelRef, createModel, defaultModelRef, resolvePointer } from './models.ts'
import type { ModelInput, ModelOptions } from './models.ts'
import type { Surroundings } from './paths.ts'

export { sendOverHttp } from '../providers/connection.ts'

type Environment = Surroundings['env']

/**
 * @param name `provider/model` or a pointer; absent: the default model.
 * @throws ConfigurationError when there is no such provider or pointer.
 */
export async function openModel(
  name: string | undefined,
  config: CriaConfig,
  env: Environment,
  overrides: ModelOptions = {},
): Promise<LanguageModel> {
  const ref = resolvePointer(name ?? (await defaultModelRef(env, config)), config)
  return configured(ref, config, env, { env, ...overrides })
}

/** Opens the default model; see `configuredModelRef`. @throws ConfigurationError where none is configured. */
export async function defaultModel(options: ModelOptions = {}): Promise<LanguageModel> {
  const [config, env] = [userConfig(), environment()]
  const ref = await configuredModelRef(env, config)
  if (ref !== undefined) return configured(ref, config, env, { env, ...options })
  const { unusableServer } = await import('./reach-provider.ts')
  const why = (await unusableServer(env, config)) ?? 'No key of a provider is set, and no Ollama runs.'
  throw new ConfigurationError(`No model was named, and none is configured. ${why}`, {
    hint: "Set a key such as OPENAI_API_KEY, or name a model: `model: 'openai/gpt-5-mini'`. `model: 'builtin/extractive'` quotes documents and needs no key.",
  })
}

/**
 * Makes a model of a name `provider/model`, or of a pointer or an alias in the user's configuration.
 *
 * @throws ConfigurationError for a value that is not a name, a model, or a pointer or alias that is set.
 */
export function resolveModel(model: ModelInput, options: ModelOptions = {}): LanguageModel {
  if (typeof model === 'string' && model.includes('/')) return createModel(model, options)
  if (typeof model === 'string') {
    const config = userConfig()
    return configured(resolvePointer(model, config), config, environment(), options)
  }
  if (isAiSdkModel(model)) return fromAiSdkModel(model)
  if (typeof model?.stream === 'function' && typeof model.ref === 'string') return model
  throw new ConfigurationError(
    'A model must be a name like openai/gpt-5-mini, a result of createModel(), or an AI SDK language model.',
  )
}

function configured(ref: string, config: CriaConfig, env: Environment, overrides: ModelOptions): LanguageModel {
  const facts = config.modelFacts?.[ref]
  const options = providerOptions(ref.slice(0, ref.indexOf('/')), config, env)
  return createModel(ref, { ...options, ...(facts === undefined ? {} : { facts }), ...overrides })
}

/** Returns the configured options of a provider, to make a model of it. */
export function providerOptions(provider: string, { providers }: CriaConfig, env: Environment): ModelOptions {
  const { baseURL, apiKeyEnv, headers } = providers?.[provider] ?? {}
  return defined({ baseURL, headers, apiKey: apiKeyEnv === undefined ? undefined : env[apiKeyEnv] })
}

/** @throws CriaError `auth` when the model needs a key and the key is missing, or contains characters that cannot be sent. */
export function requireKeyOf({ ref }: LanguageModel, config: CriaConfig, env: Environment): void {
  const provider = PROVIDER_NAMES.find((name) => ref.startsWith(`${name}/`))
  if (provider !== undefined) checkKey(provider, { env, ...providerOptions(provider, config, env) })
}

/** @throws ConfigurationError when the configuration cannot be read. */
export function userConfig(): CriaConfig {
  return loadConfig({ env: process.env, cwd: process.cwd() }).config
}

/**
 * Returns the model of the pointer `reasoning`, if it is set, when thinking is requested and `model` cannot think; else `undefined`.
 *
 * @throws ConfigurationError when the configuration cannot be read.
 */
export function specialistFor(
  model: LanguageModel,
  { enableThinking, switchModels }: Pick<EngineOptions, 'enableThinking' | 'switchModels'>,
): LanguageModel | undefined {
  const thinks = enableThinking !== undefined && enableThinking !== false && enableThinking !== 'off'
  if (!thinks || switchModels === false || model.facts.thinking !== false) return undefined
  return userConfig().models?.reasoning === undefined ? undefined : resolveModel('reasoning')
}

/** Returns the model of the pointer `quick`; `undefined`, so that the model of the turn is used, where it is not set or cannot be read. */
export function quickModel(): LanguageModel | undefined {
  try {
    return userConfig().models?.quick === undefined ? undefined : resolveModel('quick')
  } catch {
    return undefined
  }
}
