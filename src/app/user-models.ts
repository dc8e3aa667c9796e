/** Models as code names them, with what the user has configured about them. */

import { ConfigurationError } from '../core/error.ts'
import { environment } from '../util/environment.ts'
import type { LanguageModel } from '../core/model.ts'
import { fromAiSdkModel, isAiSdkModel } from '../providers/ai-sdk/language-model.ts'
import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { loadConfig } from './config.ts'
import { createModel, isPointer, resolvePointer } from './models.ts'
import type { ModelInput, ModelOptions } from './models.ts'
import { openModel, providerOptions } from './open-model.ts'

/**
 * `provider/model` is taken at its word; a pointer is looked up in the user's configuration.
 *
 * @throws ConfigurationError when it is neither a name, nor a model, nor a pointer that is set.
 */
export function resolveModel(model: ModelInput, options: ModelOptions = {}): LanguageModel {
  if (typeof model === 'string') return isPointer(model) ? pointedAt(model, options) : createModel(model, options)
  if (isAiSdkModel(model)) return fromAiSdkModel(model)
  if (typeof model?.stream === 'function' && typeof model.ref === 'string') return model
  throw new ConfigurationError(
    'A model must be a name like openai/gpt-5-mini, a result of createModel(), or an AI SDK language model.',
  )
}

/** What answers when nobody named a model; see `defaultModelRef`. */
export async function defaultModel(options: ModelOptions = {}): Promise<LanguageModel> {
  const model = await openModel(undefined, userConfig(), environment(), options)
  if (model.ref === EXTRACTIVE_REF && (process.env['CRIA_MODEL'] ?? '') === '' && userConfig().models?.main === undefined)
    stopgaps.add(model)
  return model
}

const stopgaps = new WeakSet<LanguageModel>()

/** It answers because nobody has configured another one. */
export function isStopgap(model: LanguageModel): boolean {
  return stopgaps.has(model)
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
