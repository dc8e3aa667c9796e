/** Lists the configured providers, tests which of them can be reached, and reports what is wrong with the others. */

import { CriaError, toCriaError } from '../core/error.ts'
import { user } from '../core/message.ts'
import { completionRequest, foldParts, streamRequest } from '../engine/completion.ts'
import { providerStatus } from '../providers/connection.ts'
import { definitionOf, PROVIDER_NAMES } from '../providers/registry.ts'
import { shownUrl } from '../util/redact.ts'
import type { CriaConfig } from './config-schema.ts'
import { suggestedModel } from './models.ts'
import { openModel, providerOptions } from './open-model.ts'
import type { Surroundings } from './paths.ts'
import { reachProvider } from './reach-provider.ts'
import type { ProviderState } from './reach-provider.ts'

export function providerStates(env: Surroundings['env'], config: CriaConfig): readonly ProviderState[] {
  return PROVIDER_NAMES.map((name) => {
    const own = config.providers?.[name]
    try {
      const { baseURL, keyVariable, hasKey, needsKey } = providerStatus(name, { env, ...providerOptions(name, config, env) })
      const keyFrom = hasKey ? (own?.apiKeyEnv ?? keyVariable ?? null) : null
      const configured = baseURL !== undefined && (hasKey || !needsKey)
      return { name, configured, keyFrom, baseURL: baseURL ?? null }
    } catch (thrown) {
      return { name, configured: false, keyFrom: null, baseURL: null, problem: toCriaError(thrown).message }
    }
  })
}

/**
 * Returns the models of the configured providers as `provider/model`.
 *
 * @param most models per provider.
 */
export async function modelsOnOffer(
  { env, config }: { readonly env: Surroundings['env']; readonly config: CriaConfig },
  signal: AbortSignal,
  most: number,
): Promise<readonly string[]> {
  const lists = await Promise.all(
    providerStates(env, config).map(async (state) => {
      if (!state.configured) return []
      const reached = await reachProvider(state, env, config.providers?.[state.name]?.headers, signal)
      return reached.reachable ? reached.models.slice(0, most).map((name) => `${state.name}/${name}`) : []
    }),
  )
  return lists.flat()
}

export interface CheckProvidersOptions {
  readonly env: Surroundings['env']
  readonly config: CriaConfig
  /** The default model: preferred for the test of its provider. */
  readonly defaultModel: string | undefined
  /** Sends no requests. */
  readonly offline: boolean
  readonly signal: AbortSignal
}

export interface ProviderCheck {
  readonly provider: string
  readonly message: string
  /** The remedy; absent where the provider can be used. */
  readonly hint?: string
  /** Set if it was not asked: with `offline`, or because it is not in use. */
  readonly skipped?: true
}

/** Time limit in milliseconds; a local server may have to load the model first. */
const ANSWER_MS = 30_000
/** The minimum that OpenAI's Responses API accepts. */
const FEW_TOKENS = 16

/** Sends one tiny request to each configured provider. */
export function checkProviders(options: CheckProvidersOptions): Promise<ProviderCheck[]> {
  const { env, config } = options
  const states = providerStates(env, config).filter(
    ({ name, configured, problem }) => (configured || problem !== undefined) && definitionOf(name).sharesWith === undefined,
  )
  return Promise.all(states.map(async (state) => ({ provider: state.name, ...(await checkProvider(state, options)) })))
}

async function checkProvider(state: ProviderState, options: CheckProvidersOptions): Promise<Omit<ProviderCheck, 'provider'>> {
  const { name, baseURL, keyFrom, problem } = state
  const { env, config, defaultModel, offline, signal } = options
  const place = baseURL === null ? '' : shownUrl(baseURL)
  const key = keyFrom === null ? '' : `, key from ${keyFrom}`
  const unusable = (why: string, hint: string): Omit<ProviderCheck, 'provider'> => ({
    message: `${place} cannot be used${key}: ${why}`,
    hint,
  })
  if (problem !== undefined) return { message: problem, hint: 'Correct it in the environment or in config.json.' }
  if (offline) return { message: `${place} was not asked${key}`, skipped: true }

  const reached = await reachProvider(state, env, config.providers?.[name]?.headers, signal)
  if (!reached.reachable && reached.status === null) {
    // An Ollama that is not running is only a problem when it was configured.
    if (name === 'ollama' && (env['OLLAMA_HOST'] ?? '') === '') return { message: `not running (${place})`, skipped: true }
    return unusable(`${reached.why}.`, 'Check the base URL, the key and the connection.')
  }
  const ref = modelToAsk(name, { config, defaultModel, listed: reached.reachable ? reached.models : [] })
  if (ref !== undefined) {
    const asked = await askTinyQuestion(ref, options)
    if (typeof asked === 'string') return { message: `${place} answers: ${ref} ${asked}${key}` }
    return unusable(asked.message, asked.hint ?? 'Check the base URL, the key and the name of the model.')
  }
  if (reached.reachable) return { message: `${place} answers, and has no model${key}` }
  if (reached.status === 401 || reached.status === 403) return unusable(`${reached.why}.`, 'Check the key.')
  if (reached.status === 200) return unusable(`${reached.why}.`, 'Check the base URL, and the proxy in between.')
  return {
    message: `${place} does not list its models (${reached.why}), and none of them is configured that could be asked${key}.`,
    hint: `Name one of its models under "models" in config.json, like "${name}/NAME".`,
  }
}

/** Returns the model to test: one configured by the user, else the suggested model of the provider, else the first that it lists. */
function modelToAsk(
  provider: string,
  { config, defaultModel, listed }: Pick<CheckProvidersOptions, 'config' | 'defaultModel'> & { listed: readonly string[] },
): string | undefined {
  const { main, quick, task, reasoning } = config.models ?? {}
  const chosen = [main, quick, task, reasoning, ...(config.fallbackModels ?? []), defaultModel]
  const own = chosen.find((ref) => ref?.startsWith(`${provider}/`) === true)
  if (own !== undefined) return own
  const suggested = suggestedModel(provider)
  if (suggested !== undefined && (listed.length === 0 || listed.includes(suggested.slice(provider.length + 1)))) return suggested
  const [first] = listed
  return first === undefined ? undefined : `${provider}/${first}`
}

/** Returns the duration of the answer and its tokens, as a phrase; or the error. */
async function askTinyQuestion(ref: string, { config, env, signal }: CheckProvidersOptions): Promise<string | CriaError> {
  const startedAt = performance.now()
  const patience = AbortSignal.timeout(ANSWER_MS)
  try {
    const model = await openModel(ref, config, env)
    const request = completionRequest([user('Say ok.')], model, {
      settings: { maxOutputTokens: FEW_TOKENS },
      tools: [],
      stream: true,
    })
    const { usage, finishReason } = await foldParts(streamRequest(model, request, AbortSignal.any([signal, patience])))
    if (finishReason === undefined) throw new CriaError('stream_interrupted', `${ref} began to answer and broke off.`)
    const tokens = usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    return `in ${Math.round(performance.now() - startedAt)} ms${tokens > 0 ? `, ${tokens} tokens` : ''}`
  } catch (thrown) {
    if (patience.aborted) return new CriaError('timeout', `${ref} did not answer within ${ANSWER_MS / 1000} s.`)
    return toCriaError(thrown)
  }
}
