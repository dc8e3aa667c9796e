/** Opens a model with the base URL, key, headers and facts that the user has configured. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'
import { checkKey } from '../providers/connection.ts'
import { PROVIDER_NAMES } from '../providers/registry.ts'
import { listens } from '../util/listens.ts'
import type { CriaConfig } from './config-schema.ts'
import { configuredModelRef, createModel, defaultModelRef, resolvePointer } from './models.ts'
import type { ModelOptions } from './models.ts'
import type { Surroundings } from './paths.ts'
import { defined } from '../util/check.ts'

const PROBE_MS = 300

export { sendOverHttp } from '../providers/connection.ts'

/**
 * @param name `provider/model` or a pointer; absent: the default model.
 * @throws ConfigurationError when there is no such provider or pointer.
 */
export async function openModel(
  name: string | undefined,
  config: CriaConfig,
  env: Surroundings['env'],
  overrides: ModelOptions = {},
): Promise<LanguageModel> {
  const ref = resolvePointer(name ?? (await defaultModelRef(env, config, fetchIfThere)), config)
  return configured(ref, config, env, overrides)
}

/** As `openModel` without a name, for programs: the builtin model answers only where it is named. @throws ConfigurationError where none is configured. */
export async function openConfiguredModel(
  config: CriaConfig,
  env: Surroundings['env'],
  overrides: ModelOptions = {},
): Promise<LanguageModel> {
  const ref = await configuredModelRef(env, config, fetchIfThere)
  if (ref !== undefined) return configured(ref, config, env, overrides)
  throw new ConfigurationError('No model was named, and none is configured: no key of a provider is set, and no Ollama runs.', {
    hint: "Set a key such as OPENAI_API_KEY, or name a model: `model: 'openai/gpt-5-mini'`. `model: 'builtin/extractive'` quotes documents and needs no key.",
  })
}

function configured(ref: string, config: CriaConfig, env: Surroundings['env'], overrides: ModelOptions): LanguageModel {
  const facts = config.modelFacts?.[ref]
  const options = providerOptions(ref.slice(0, ref.indexOf('/')), config, env)
  return createModel(ref, { env, ...options, ...(facts === undefined ? {} : { facts }), ...overrides })
}

/** @throws CriaError `auth` when a model could not be asked: there is no key where one is needed, or none that can be sent. */
export function requireKeyOf({ ref }: LanguageModel, config: CriaConfig, env: Surroundings['env']): void {
  const provider = PROVIDER_NAMES.find((name) => ref.startsWith(`${name}/`))
  if (provider !== undefined) checkKey(provider, { env, ...providerOptions(provider, config, env) })
}

/** A local server that is not there is found out without loading what `fetch` needs. */
const fetchIfThere: typeof fetch = async (input, init) => {
  const url = new URL(typeof input === 'object' && 'url' in input ? input.url : input)
  if (!(await listens(url, PROBE_MS))) throw new TypeError(`Nothing listens at ${url.host}.`)
  return fetch(input, init)
}

/** What the configuration says about a provider, for those who make models of it. */
export function providerOptions(provider: string, { providers }: CriaConfig, env: Surroundings['env']): ModelOptions {
  const own = providers?.[provider]
  if (own === undefined) return {}
  const apiKey = own.apiKeyEnv === undefined ? undefined : env[own.apiKeyEnv]
  return {
    ...defined({ baseURL: own.baseURL, apiKey, headers: own.headers }),
  }
}
