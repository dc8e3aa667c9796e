/** Determines the base URL, the key and the headers for requests to a provider. */

import { environment } from '../util/environment.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { Encoded } from './api.ts'
import type { ErrorContext } from './errors/errors.ts'
import type { ProviderDefinition } from './registry.ts'
import { definitionOf, normalizeBaseUrl } from './registry.ts'
import type { Peer } from './wire/network.ts'
import { send } from './wire/send.ts'
import type { Answered, Fetch, Sent } from './wire/send.ts'

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

/** A provider, with the caller's options for reaching it. */
export interface Target {
  readonly provider: string
  readonly definition: ProviderDefinition
  readonly baseURL: string
  readonly peer: Peer
  readonly options: ConnectionOptions
}

/** @throws ConfigurationError when the provider, or its base URL, is not known. */
export function targetOf(provider: string, options: ConnectionOptions): Target {
  const definition = definitionOf(provider)
  const baseURL = baseUrlOf(definition, options)
  if (baseURL !== undefined) return { provider, definition, baseURL, peer: { provider, host: new URL(baseURL).host }, options }
  throw new ConfigurationError(`The base URL of ${provider} is not known: set ${definition.urlVariable}, or the option baseURL.`)
}

/**
 * Sends a request to a provider, with its key if one is set, and the caller's headers, which win. Follows redirects within the same origin only.
 *
 * @throws ConfigurationError for an invalid header; CriaError when the request could not be sent.
 */
export function post(target: Target, { path, headers, body }: Encoded, signal: AbortSignal | undefined): Promise<Answered> {
  const { definition, options, baseURL, peer } = target
  const key = keyOf(definition, options)
  for (const [name, value] of Object.entries(options.headers ?? {})) requireHeader(name, value)
  const all = {
    'content-type': 'application/json',
    ...definition.headers,
    ...headers,
    ...(key === undefined ? {} : definition.auth(key)),
  }
  // Later headers win over earlier ones of the same name, in upper or lower case.
  const named = [...Object.entries(all), ...Object.entries(options.headers ?? {})].map(([name, value]) => [
    name.toLowerCase(),
    value,
  ])
  const { refuses = [] } = definition
  const sent: Sent = {
    method: 'POST',
    headers: Object.fromEntries(named) as Record<string, string>,
    body: JSON.stringify({ ...body, ...Object.fromEntries(refuses.map((name) => [name, undefined])) }),
    redirect: 'manual',
    ...(signal === undefined ? {} : { signal }),
  }
  const own = options.fetch
  // A `fetch` of the caller may expect a `Headers` object.
  const base: Fetch = own === undefined ? transport : (url, init) => own(url, { ...init, headers: new Headers(init.headers) })
  return send(base, baseURL + path, sent, peer)
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

/** Returns what error messages may name about the provider, and the secrets that they must not contain. */
export function errorContext({ provider, definition, peer, options }: Target): Omit<ErrorContext, 'ref' | 'knownModels'> {
  return {
    provider,
    host: peer.host,
    get secrets() {
      return [keyOf(definition, options), ...secretHeaders(options.headers)]
    },
    variables: { key: definition.keyVariable, baseURL: definition.urlVariable },
  }
}

/**
 * @param baseURL default: the configured base URL.
 * @throws CriaError `auth` when a required key is missing, or the key holds characters that a header cannot carry.
 */
export function checkKey(provider: string, options: ConnectionOptions, baseURL?: string): void {
  const definition = definitionOf(provider)
  const name = definition.keyVariable ?? 'the key'
  const key = keyOf(definition, options)
  const signsItself = Object.keys(options.headers ?? {}).some((header) => CREDENTIAL.test(header))
  if (key === undefined && !signsItself && needsKey(definition, baseURL ?? baseUrlOf(definition, options))) {
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
  const baseURL = baseUrlOf(definition, options)
  const hasKey = keyOf(definition, options) !== undefined
  return { baseURL, keyVariable: definition.keyVariable, hasKey, needsKey: needsKey(definition, baseURL) }
}

export function baseUrlOf(definition: ProviderDefinition, options: ConnectionOptions): string | undefined {
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

function needsKey({ home, keyVariable }: ProviderDefinition, baseURL: string | undefined): boolean {
  return keyVariable !== undefined && home !== undefined && baseURL === home
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
