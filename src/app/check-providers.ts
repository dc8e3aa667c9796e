/** Sends one tiny request to each configured provider, and says in words what is wrong. */

import { CriaError, toCriaError } from '../core/error.ts'
import { user } from '../core/message.ts'
import type { LanguageModel } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import { completionRequest, foldParts, streamRequest } from '../engine/completion.ts'
import { definitionOf } from '../providers/registry.ts'
import type { Check } from './checks.ts'
import type { CriaConfig } from './config-schema.ts'
import { shownUrl } from '../util/redact.ts'
import { suggestedModel } from './models.ts'
import { openModel } from './open-model.ts'
import type { Surroundings } from './paths.ts'
import { providerStates, reachProvider } from './providers.ts'
import type { ProviderState } from './providers.ts'

export interface CheckProvidersOptions {
  readonly env: Surroundings['env']
  readonly config: CriaConfig
  /** What answers when nobody names a model; when its provider does not work, that is no mere warning. */
  readonly defaultModel: string | undefined
  readonly offline: boolean
  readonly signal: AbortSignal
}

/** Milliseconds; a local server may have to load the model first. */
const PATIENCE = 30_000
/** OpenAI's Responses API takes no less. */
const FEW_TOKENS = 16

export function checkProviders(options: CheckProvidersOptions): Promise<Check[]> {
  const { env, config } = options
  const states = providerStates(env, config).filter(
    ({ name, configured, problem }) => (configured || problem !== undefined) && definitionOf(name).sharesWith === undefined,
  )
  return Promise.all(states.map((state) => checkProvider(state, options)))
}

async function checkProvider(state: ProviderState, options: CheckProvidersOptions): Promise<Check> {
  const { env, config, defaultModel, signal } = options
  const name = `provider ${state.name}`
  const place = state.baseURL === null ? '' : shownUrl(state.baseURL)
  const key = state.keyFrom === null ? '' : `, key from ${state.keyFrom}`
  const wrong = (message: string, hint: string): Check => {
    const status = defaultModel?.startsWith(`${state.name}/`) === true ? 'failed' : 'warning'
    return { name, status, message, hint }
  }
  if (state.problem !== undefined) return wrong(state.problem, 'Correct it in the environment or in config.json.')
  if (options.offline) return { name, status: 'ok', message: `${place} was not asked${key}` }

  const reached = await reachProvider(state, env, config.providers?.[state.name]?.headers, signal)
  if (!reached.reachable && reached.status === null) {
    // Nobody has to have an Ollama.
    if (state.name === 'ollama' && (env['OLLAMA_HOST'] ?? '') === '')
      return { name, status: 'ok', message: `not running (${place})` }
    return wrong(`${place} cannot be used${key}: ${reached.why}.`, 'Check the base URL, the key and the connection.')
  }
  const listed = reached.reachable ? reached.models : []
  const ref = modelToAsk(state.name, { config, defaultModel, listed })
  if (ref === undefined) {
    if (reached.reachable) return { name, status: 'ok', message: `${place} answers, and has no model${key}` }
    if (reached.status === 401 || reached.status === 403)
      return wrong(`${place} cannot be used${key}: ${reached.why}.`, 'Check the key.')
    if (reached.status === 200)
      return wrong(`${place} cannot be used${key}: ${reached.why}.`, 'Check the base URL, and the proxy in between.')
    return wrong(
      `${place} does not tell its models (${reached.why}), and none of them is configured that could be asked${key}.`,
      `Name one of its models under "models" in config.json, like "${state.name}/NAME".`,
    )
  }
  const asked = await askTinyQuestion(ref, options)
  if (asked.error === undefined) {
    const tokens = asked.usage.totalTokens ?? (asked.usage.inputTokens ?? 0) + (asked.usage.outputTokens ?? 0)
    const cost = tokens > 0 ? `, ${tokens} tokens` : ''
    return { name, status: 'ok', message: `${place} answers: ${ref} in ${asked.ms} ms${cost}${key}` }
  }
  const { message, hint } = asked.error
  return wrong(`${place} cannot be used${key}: ${message}`, hint ?? 'Check the base URL, the key and the name of the model.')
}

/** One that the user has chosen; else the one that is chosen where only a key is set; else the first that the provider lists. */
function modelToAsk(
  provider: string,
  {
    config,
    defaultModel,
    listed,
  }: Pick<CheckProvidersOptions, 'config' | 'defaultModel'> & { readonly listed: readonly string[] },
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

interface Asked {
  readonly ms: number
  readonly usage: Usage
  readonly error?: undefined
}

async function askTinyQuestion(
  ref: string,
  { config, env, signal }: CheckProvidersOptions,
): Promise<Asked | { readonly error: CriaError }> {
  const startedAt = performance.now()
  const patience = AbortSignal.timeout(PATIENCE)
  try {
    const model: LanguageModel = await openModel(ref, config, env)
    const settings = { maxOutputTokens: FEW_TOKENS }
    const request = completionRequest([user('Say ok.')], model, { settings, tools: [], stream: true })
    const { usage, finishReason } = await foldParts(streamRequest(model, request, AbortSignal.any([signal, patience])))
    if (finishReason === undefined) throw new CriaError('stream_interrupted', `${ref} began to answer and broke off.`)
    return { ms: Math.round(performance.now() - startedAt), usage }
  } catch (thrown) {
    if (patience.aborted) return { error: new CriaError('timeout', `${ref} did not answer within ${PATIENCE / 1000} s.`) }
    return { error: toCriaError(thrown) }
  }
}
