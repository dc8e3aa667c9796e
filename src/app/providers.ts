/** Lists the configured providers, and which of them can be reached. */

import { toCriaError } from '../core/error.ts'
import { providerStatus } from '../providers/connection.ts'
import { definitionOf, PROVIDER_NAMES } from '../providers/registry.ts'
import { redact } from '../util/redact.ts'
import type { CriaConfig } from './config-schema.ts'
import { providerOptions } from './open-model.ts'
import { reason } from './paths.ts'
import type { Surroundings } from './paths.ts'

export interface ProviderState {
  readonly name: string
  /** There is what it needs: a key, or a base URL where no key is needed. */
  readonly configured: boolean
  /** The environment variable that holds the key, where it is set. The key itself is shown nowhere. */
  readonly keyFrom: string | null
  readonly baseURL: string | null
  /** Why it cannot be used, where its configuration is wrong. */
  readonly problem?: string
}

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

export type Reachability =
  | { readonly reachable: true; readonly models: readonly string[] }
  /** `status` is that of the answer; `null` when there was none. */
  | { readonly reachable: false; readonly why: string; readonly status: number | null }

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
  if (baseURL === null) return { reachable: false, why: 'no base URL is configured', status: null }
  const key = keyFrom === null ? undefined : env[keyFrom]
  const { auth, headers: own, isLocal } = definitionOf(name)
  const patience = isLocal === true ? LOCAL_PATIENCE_MS : PATIENCE_MS
  try {
    const response = await fetch(`${baseURL.replace(/\/+$/, '')}/models`, {
      headers: { ...own, ...(key === undefined ? {} : auth(key)), ...headers },
      // Another server must not be handed the key.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) return { reachable: false, why: refusal(response.status), status: response.status }
    if (!isList(body)) return { reachable: false, why: noList(response), status: response.status }
    return { reachable: true, models: modelNames(body) }
  } catch (thrown) {
    return { reachable: false, why: redact(failure(thrown, patience), [key]), status: null }
  }
}

/**
 * References of the models that the configured providers have, `provider/model`.
 *
 * @param most of each provider.
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

function refusal(status: number): string {
  if (status === 401 || status === 403) return `the key was refused (status ${status})`
  return `it answered with status ${status}`
}

/** A web server, a proxy or another service stands where the API is expected. */
function noList(response: Response): string {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
  const sent = type === 'text/html' ? 'HTML' : type === '' || type === 'application/json' ? 'something else' : type
  return `what answers there is no API: it sent ${sent} in place of a list of models`
}

function isList(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('data' in body || 'models' in body)
}

function failure(thrown: unknown, patience: number): string {
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return `no answer within ${patience} ms`
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known here'
  if (HUNG_UP.has(code)) return 'the connection was closed without an answer'
  return reason(cause)
}

const HUNG_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** `data[].id` of OpenAI, Anthropic and Ollama, `models[].name` of Google. */
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
