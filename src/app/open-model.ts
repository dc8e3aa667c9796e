/** A model as the user has configured it: base URL, key, headers, and what the user knows better about it. */

import type { LanguageModel } from '../core/model.ts'
import type { CriaConfig, ProviderName } from './config-schema.ts'
import { createModel, defaultModelRef, resolveModel } from './models.ts'
import type { ModelOptions } from './models.ts'
import type { Surroundings } from './paths.ts'

/**
 * @param name `provider/model` or a pointer; absent: the default model.
 * @throws ConfigurationError when there is no such provider or pointer.
 */
export async function openModel(name: string | undefined, config: CriaConfig, env: Surroundings['env']): Promise<LanguageModel> {
  const { ref } = resolveModel(name ?? (await defaultModelRef(env, config)), config, { env })
  const facts = config.modelFacts?.[ref]
  const options = providerOptions(ref.slice(0, ref.indexOf('/')), config, env)
  return createModel(ref, { env, ...options, ...(facts === undefined ? {} : { facts }) })
}

/** What the configuration says about a provider, for those who make models of it. */
export function providerOptions(provider: string, { providers }: CriaConfig, env: Surroundings['env']): ModelOptions {
  const own = providers?.[provider as ProviderName]
  if (own === undefined) return {}
  const apiKey = own.apiKeyEnv === undefined ? undefined : env[own.apiKeyEnv]
  return {
    ...(own.baseURL === undefined ? {} : { baseURL: own.baseURL }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(own.headers === undefined ? {} : { headers: own.headers }),
  }
}
