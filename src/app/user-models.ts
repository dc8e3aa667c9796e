/** Models as code names them, with what the user has configured about them. */

import { ConfigurationError } from '../core/error.ts'
import { environment } from '../util/environment.ts'
import type { LanguageModel } from '../core/model.ts'
import { fromAiSdkModel, isAiSdkModel } from '../providers/ai-sdk/language-model.ts'
import { loadConfig } from './config.ts'
import { createModel, resolvePointer } from './models.ts'
import type { ModelInput, ModelOptions } from './models.ts'
import { openConfiguredModel, providerOptions } from './open-model.ts'

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
