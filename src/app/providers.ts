/** Which providers are configured, and which of them can be reached. */

import { redact } from '../util/redact.ts'
import { PROVIDERS } from './config-schema.ts'
import type { CriaConfig, ProviderName } from './config-schema.ts'
import { reason } from './paths.ts'
import type { Surroundings } from './paths.ts'

interface ProviderFacts {
  readonly key: string | undefined
  readonly url: string
  readonly defaultURL: string | undefined
}

const FACTS: Readonly<Record<ProviderName, ProviderFacts>> = {
  openai: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', defaultURL: 'https://api.openai.com/v1' },
  'openai-chat': { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', defaultURL: 'https://api.openai.com/v1' },
  anthropic: { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL', defaultURL: 'https://api.anthropic.com/v1' },
  google: {
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    url: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    defaultURL: 'https://generativelanguage.googleapis.com/v1beta',
  },
  ollama: { key: undefined, url: 'OLLAMA_HOST', defaultURL: 'http://127.0.0.1:11434' },
  'openai-compatible': { key: 'OPENAI_COMPATIBLE_API_KEY', url: 'OPENAI_COMPATIBLE_BASE_URL', defaultURL: undefined },
}

export interface ProviderState {
  readonly name: ProviderName
  /** There is what it needs: a key, or a base URL where no key is needed. */
  readonly configured: boolean
  /** The environment variable that holds the key, where it is set. The key itself is shown nowhere. */
  readonly keyFrom: string | null
  readonly baseURL: string | null
}

export function providerStates(env: Surroundings['env'], config: CriaConfig): readonly ProviderState[] {
  return PROVIDERS.map((name) => {
    const { key, url, defaultURL } = FACTS[name]
    const own = config.providers?.[name]
    const variable = own?.apiKeyEnv ?? key
    const keyFrom = variable !== undefined && isSet(env[variable]) ? variable : null
    const given = own?.baseURL ?? (isSet(env[url]) ? env[url] : undefined)
    const baseURL = withProtocol(given ?? defaultURL)
    const configured = name === 'ollama' || (name === 'openai-compatible' ? given !== undefined : keyFrom !== null)
    return { name, configured, keyFrom, baseURL }
  })
}

export type Reachability =
  | { readonly reachable: true; readonly models: readonly string[] }
  | { readonly reachable: false; readonly why: string }

const PATIENCE_MS = 3000
/** A local server answers at once, or is not there. */
const LOCAL_PATIENCE_MS = 500

/** Asks a provider for its list of models, which costs nothing. Never throws. */
export async function reachProvider(
  { name, keyFrom, baseURL }: ProviderState,
  env: Surroundings['env'],
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Reachability> {
  if (baseURL === null) return { reachable: false, why: 'no base URL is configured' }
  const key = keyFrom === null ? undefined : env[keyFrom]
  const patience = name === 'ollama' ? LOCAL_PATIENCE_MS : PATIENCE_MS
  try {
    const response = await fetch(modelsURL(name, baseURL), {
      headers: { ...keyHeaders(name, key), ...headers },
      // Another server must not be handed the key.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) return { reachable: false, why: refusal(response.status) }
    return { reachable: true, models: modelNames(body) }
  } catch (thrown) {
    return { reachable: false, why: redact(failure(thrown, patience), [key]) }
  }
}

function modelsURL(name: ProviderName, baseURL: string): string {
  return `${baseURL.replace(/\/+$/, '')}${name === 'ollama' ? '/api/tags' : '/models'}`
}

function keyHeaders(name: ProviderName, key: string | undefined): Record<string, string> {
  if (key === undefined) return {}
  if (name === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  return name === 'google' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return `the key was refused (status ${status})`
  return `it answered with status ${status}`
}

function failure(thrown: unknown, patience: number): string {
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return `no answer within ${patience} ms`
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known here'
  return reason(cause)
}

/** `data[].id` of OpenAI and Anthropic, `models[].name` of Ollama and Google. */
function modelNames(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return []
  const list: unknown = 'data' in body ? body.data : 'models' in body ? body.models : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null) return []
    const name: unknown = 'id' in item ? item.id : 'name' in item ? item.name : undefined
    return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
  })
}

function withProtocol(url: string | undefined): string | null {
  if (url === undefined) return null
  return url.includes('://') ? url : `http://${url}`
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
