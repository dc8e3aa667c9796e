/** Resolves models that code names, with what the user has configured, and chooses those for thinking and for summaries. */

import { ConfigurationError } from '../core/error.ts'
import { environment } from '../util/environment.ts'
import type { LanguageModel } from '../core/model.ts'
import { fromAiSdkModel, isAiSdkModel } from '../providers/ai-sdk/language-model.ts'
import { loadConfig } from './config.ts'
import { createModel, resolvePointer } from './models.ts'
import type { ModelInput, ModelOptions } from './models.ts'
import { openConfiguredModel, providerOptions } from './open-model.ts'
import type { EngineOptions } from '../engine/options.ts'

/**
 * `provider/model` is taken at its word; a pointer or an alias is looked up in the user's configuration.
 *
 * @throws ConfigurationError when it is neither a name, nor a model, nor a pointer or alias that is set.
 */
export function resolveModel(model: ModelInput, options: ModelOptions = {}): LanguageModel {
  if (typeof model === 'string') return model.includes('/') ? createModel(model, options) : pointedAt(model, options)
  if (isAiSdkModel(model)) return fromAiSdkModel(model)
  if (typeof model?.stream === 'function' && typeof model.ref === 'string') return model
  throw new ConfigurationError(
    'A model must be a name like openai/gpt-5-mini, a result of createModel(), or an AI SDK language model.',
  )
}

/** The model that answers when none is named; see `configuredModelRef`. @throws ConfigurationError where none is configured. */
export function defaultModel(options: ModelOptions = {}): Promise<LanguageModel> {
  return openConfiguredModel(userConfig(), environment(), options)
}

function pointedAt(pointer: string, options: ModelOptions): LanguageModel {
  const config = userConfig()
  const ref = resolvePointer(pointer, config)
  const facts = config.modelFacts?.[ref]
  const given = providerOptions(ref.slice(0, ref.indexOf('/')), config, environment())
  return createModel(ref, { ...given, ...(facts === undefined ? {} : { facts }), ...options })
}

/** @throws ConfigurationError when it cannot be read. */
export function userConfig(): ReturnType<typeof loadConfig>['config'] {
  return loadConfig({ env: process.env, cwd: process.cwd() }).config
}

/**
 * Thinking is asked of a model that cannot: then the pointer `reasoning` stands for the one that can, where the user has set it.
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

/** The one that the user calls `quick`; `undefined` where none is, or the configuration cannot be read: the model of the turn writes then. */
export function quickModel(): LanguageModel | undefined {
  try {
    return userConfig().models?.quick === undefined ? undefined : resolveModel('quick')
  } catch {
    return undefined
  }
}
