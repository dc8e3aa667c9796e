/** Tests whether a provider answers, and says why not. */

import { toCriaError } from '../core/error.ts'
import { providerStatus } from '../providers/connection.ts'
import { definitionOf } from '../providers/registry.ts'
import { redact, shownUrl } from '../util/redact.ts'
import type { CriaConfig } from './config-schema.ts'
import { listedModels } from './models.ts'
import { reason } from './paths.ts'
import type { Surroundings } from './paths.ts'

export interface ProviderState {
  readonly name: string
  /** The required setting is present: a key, or a base URL where no key is needed. */
  readonly configured: boolean
  /** Name of the environment variable that holds the key, if it is set. The key itself is never shown. */
  readonly keyFrom: string | null
  readonly baseURL: string | null
  /** The error in the configuration, if any. */
  readonly problem?: string
}

export type Reachability =
  | { readonly reachable: true; readonly models: readonly string[] }
  /** `status` is the HTTP status; `null` when no response arrived. */
  | { readonly reachable: false; readonly why: string; readonly status: number | null }

const PATIENCE_MS = 3000
/** A running local server answers immediately. */
const LOCAL_PATIENCE_MS = 500

/** Requests a provider's list of models, which costs nothing. Never throws. */
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
      // A redirect must not send the key to another server.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) return { reachable: false, why: refusal(response.status), status: response.status }
    const models = listedModels(body)
    if (models === undefined) return { reachable: false, why: noList(response), status: response.status }
    return { reachable: true, models: models.map((name) => name.replace(/^models\//, '')) }
  } catch (thrown) {
    return { reachable: false, why: redact(failure(thrown, patience), [key]), status: null }
  }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return `the key was refused (status ${status})`
  return `it answered with status ${status}`
}

/** Describes a response that is not of the API: from a web server, a proxy or another service. */
function noList(response: Response): string {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
  const sent = type === 'text/html' ? 'HTML' : type === '' || type === 'application/json' ? 'something else' : type
  return `the server there is not a model API: it sent ${sent} in place of a list of models`
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

/**
 * Returns the reason, as a sentence, why the server at `OPENAI_COMPATIBLE_BASE_URL` does not provide the default model; `undefined` where the
 * variable is not set or a setting that comes before it names the model. Sends the server another request, so call it only when no model was
 * found. Never throws.
 */
export async function unusableServer(
  env: Surroundings['env'],
  { models }: CriaConfig,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== ''
  if (!isSet(SERVER_VARIABLE) || isSet('CRIA_MODEL') || models?.main !== undefined) return undefined
  const name = 'openai-compatible'
  try {
    const { baseURL = null, hasKey, keyVariable = null } = providerStatus(name, { env })
    const state = { name, configured: true, keyFrom: hasKey ? keyVariable : null, baseURL }
    const reached = await reachProvider(state, env, {}, signal)
    if (reached.reachable && reached.models.length > 0) return undefined
    const server = `The server at ${shownUrl(baseURL ?? '')} (${SERVER_VARIABLE})`
    if (reached.reachable) return `${server} lists no models.`
    if (reached.status === null) return `${server} cannot be used: ${reached.why}.`
    return `${server} does not list its models, so name one of them (${name}/NAME): ${reached.why}.`
  } catch (thrown) {
    return toCriaError(thrown).message
  }
}

const SERVER_VARIABLE = 'OPENAI_COMPATIBLE_BASE_URL'
