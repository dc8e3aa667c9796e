/** Sends requests to a provider: base URL, key, headers, redirects. */

import { environment } from '../util/environment.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { Encoded } from './api.ts'
import type { ErrorContext } from './errors/errors.ts'
import type { ProviderDefinition } from './registry.ts'
import { definitionOf, normalizeBaseUrl } from './registry.ts'
import type { Answered, Fetch, Peer, Sent } from './wire/network.ts'
import { connectionError, isAbort } from './wire/network.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Options for reaching a provider. */
export interface ConnectionOptions {
  /** Default: from the environment (`OPENAI_BASE_URL`, …), else the provider's own. */
  readonly baseURL?: string
  /** Default: from the environment. The key is never part of a message, an event or a database row. */
  readonly apiKey?: string
  /** HTTP headers sent with every request, beside the provider's own; default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called in place of the global `fetch`, with `redirect: 'manual'`. */
  readonly fetch?: typeof fetch
  /** Default `process.env`. */
  readonly env?: Environment
}

/** All option names, to recognise misspelt ones. */
export const CONNECTION_OPTIONS: Readonly<Record<keyof ConnectionOptions, true>> = {
  baseURL: true,
  apiKey: true,
  headers: true,
  fetch: true,
  env: true,
}

/** A provider, with the caller's options for reaching it; also what its errors may name. */
export interface Target extends Peer, Pick<ErrorContext, 'secrets' | 'variables'> {
  readonly definition: ProviderDefinition
  readonly baseURL: string
  readonly options: ConnectionOptions
}

/** @throws ConfigurationError when the provider, or its base URL, is not known. */
export function targetOf(provider: string, options: ConnectionOptions): Target {
  const definition = definitionOf(provider)
  const { keyVariable, urlVariable } = definition
  const baseURL = baseUrlOf(definition, options)
  if (baseURL === undefined)
    throw new ConfigurationError(`The base URL of ${provider} is not known: set ${urlVariable}, or the option baseURL.`)
  return {
    provider,
    host: new URL(baseURL).host,
    definition,
    baseURL,
    options: { ...options, baseURL },
    get secrets() {
      return [keyOf(definition, options), ...secretHeaders(options.headers)]
    },
    variables: { key: keyVariable, baseURL: urlVariable },
  }
}

const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init)
/** Sends requests unless the caller passes a `fetch`. */
let transport = globalFetch

/**
 * Makes this process send its requests over `node:http`, or by the global `fetch` of the time of each request. Meant for processes that run only cria
 * and have to start fast.
 */
export function sendOverHttp(isOn = true): void {
  const overHttp: Fetch = async (url, init) => (await import('./wire/http-fetch.ts')).httpFetch(url, init)
  transport = isOn ? overHttp : globalFetch
}

const MAX_REDIRECTS = 5

/**
 * Sends a request to a provider, with its key if one is set, and the caller's headers, which win. Follows redirects within the same origin only, so
 * that the key cannot leak.
 *
 * @throws ConfigurationError for an invalid header; CriaError that names the host when the request could not be sent; the reason of an abort.
 */
export async function post(target: Target, request: Encoded, signal: AbortSignal | undefined): Promise<Answered> {
  const { provider, host, baseURL } = target
  const own = target.options.fetch
  // A `fetch` of the caller may expect a `Headers` object.
  const base: Fetch = own === undefined ? transport : (to, init) => own(to, { ...init, headers: new Headers(init.headers) })
  const sent = toSent(target, request, signal)
  let url = new URL(baseURL + request.path)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    let response: Answered
    try {
      response = await base(url.href, sent)
    } catch (thrown) {
      throw isAbort(thrown) || signal?.aborted === true ? thrown : connectionError(thrown, target)
    }
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null || location === undefined) return response
    const { body } = response
    if (body !== null && body !== undefined) void ('cancel' in body ? body.cancel().catch(() => {}) : body.destroy())
    url = redirected(url, location, response.status, target)
  }
  throw new CriaError('invalid_response', `${provider}: ${host} redirected more than ${MAX_REDIRECTS} times.`, {
    retryable: false,
  })
}

function toSent({ definition, options }: Target, { headers, body }: Encoded, signal: AbortSignal | undefined): Sent {
  const { refuses = [], auth } = definition
  const key = keyOf(definition, options)
  const own = Object.entries(options.headers ?? {})
  for (const [name, value] of own) requireHeader(name, value)
  const ours = {
    'content-type': 'application/json',
    ...definition.headers,
    ...headers,
    ...(key === undefined ? {} : auth(key)),
  }
  return {
    method: 'POST',
    // Later headers win over earlier ones of the same name, in upper or lower case.
    headers: Object.fromEntries([...Object.entries(ours), ...own].map(([name, value]) => [name.toLowerCase(), value])),
    body: JSON.stringify({ ...body, ...Object.fromEntries(refuses.map((name) => [name, undefined])) }),
    redirect: 'manual',
    ...(signal === undefined ? {} : { signal }),
  }
}

function redirected(from: URL, location: string, status: number, { provider, host }: Peer): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  // The other redirects turn a POST into a GET, which models do not answer.
  if (to?.origin === from.origin && (status === 307 || status === 308)) return to
  const why =
    to === undefined
      ? 'to a location that is not a URL'
      : to.origin === from.origin
        ? `to ${to.origin}${to.pathname}, which is not followed for a POST`
        : `to ${to.origin}; it was not followed, because the key would be sent there`
  throw new CriaError('invalid_response', `${provider}: ${host} redirected (${status}) ${why}.`, {
    status,
    retryable: false,
    hint: 'If the provider has moved there, set it as the base URL.',
  })
}

/** @throws CriaError `auth` when a required key is missing, or the key holds characters that a header cannot carry. */
export function checkKey(provider: string, options: ConnectionOptions): void {
  const { needsKey, keyVariable: name = 'the key' } = providerStatus(provider, options)
  const key = keyOf(definitionOf(provider), options)
  const signsItself = Object.keys(options.headers ?? {}).some((header) => CREDENTIAL.test(header))
  if (key === undefined && !signsItself && needsKey) {
    throw new CriaError(
      'auth',
      `${provider}: there is no API key. Set ${name} in the environment (in code also: the option apiKey).`,
      { hint: `\`cria doctor\` shows whether ${name} is set, and the other configuration.` },
    )
  }
  if (key === undefined || SENDABLE.test(key)) return
  // Keys are pasted from the clipboard, sometimes with line breaks and invisible characters.
  const source = options.apiKey === undefined ? name : 'The option apiKey'
  throw new CriaError('auth', `${provider}: ${source} holds a line break or a character that an API key cannot have.`, {
    hint: 'Copy the key again, on one line and without anything around it.',
  })
}

/** The configuration of a provider. */
export interface ProviderStatus {
  readonly baseURL: string | undefined
  readonly keyVariable: string | undefined
  readonly hasKey: boolean
  /** The base URL is the provider's own, which needs a key; another server with the same API may not. */
  readonly needsKey: boolean
}

/** @throws ConfigurationError when the provider is not known, or its base URL is invalid. */
export function providerStatus(provider: string, options: ConnectionOptions = {}): ProviderStatus {
  const definition = definitionOf(provider)
  const { keyVariable, home } = definition
  const baseURL = baseUrlOf(definition, options)
  const hasKey = keyOf(definition, options) !== undefined
  return { baseURL, keyVariable, hasKey, needsKey: keyVariable !== undefined && home !== undefined && baseURL === home }
}

function baseUrlOf(definition: ProviderDefinition, options: ConnectionOptions): string | undefined {
  const { home, urlVariable, version, normalize = normalizeBaseUrl } = definition
  const { baseURL, env = environment() } = options
  if (baseURL !== undefined) return normalize(baseURL, 'The option baseURL', version)
  const given = (env[urlVariable] ?? '').trim()
  return given === '' ? home : normalize(given, urlVariable, version)
}

export function keyOf(
  { keyVariable = '' }: ProviderDefinition,
  { apiKey, env = environment() }: ConnectionOptions,
): string | undefined {
  return (apiKey ?? env[keyVariable] ?? '').trim() || undefined
}

/** @throws ConfigurationError for an invalid name or value; the message omits the value, which may be secret. */
function requireHeader(name: string, value: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new ConfigurationError(`A header cannot be named ${JSON.stringify(name)}.`)
  if (!SENDABLE.test(value))
    throw new ConfigurationError(`The header ${name} holds a line break or a character that a header cannot have.`)
}

/** The characters that a header value may have (RFC 9110, section 5.5). */
const SENDABLE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/

const CREDENTIAL = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i
const SECRET_HEADER = /auth|key|token|cookie|secret/i

function secretHeaders(headers: ConnectionOptions['headers'] = {}): string[] {
  const secret = Object.entries(headers).filter(([name]) => SECRET_HEADER.test(name))
  return secret.flatMap(([, value]) => [value, value.replace(/^\w+ /, '')])
}
