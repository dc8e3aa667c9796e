/** How a provider is reached: its base URL, its key, and the headers of a request. */

import { environment } from '../util/environment.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { Encoded } from './api.ts'
import type { ErrorContext } from './errors/errors.ts'
import type { ProviderDefinition } from './registry.ts'
import { definitionOf } from './registry.ts'
import type { Peer } from './wire/network.ts'
import { send } from './wire/send.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How a provider is reached. */
export interface ConnectionOptions {
  /** Default: from the environment (`OPENAI_BASE_URL`, …), else the provider's own. */
  readonly baseURL?: string
  /** Default: from the environment. It is never part of a message, an event or a row. */
  readonly apiKey?: string
  /** HTTP headers sent with every request, beside the provider's own; default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called in place of the global `fetch`, with `redirect: 'manual'`. */
  readonly fetch?: typeof fetch
  /** Default `process.env`. */
  readonly env?: Environment
}

/** Every name, to recognise a misspelt one. */
export const CONNECTION_OPTIONS: Readonly<Record<keyof ConnectionOptions, true>> = {
  baseURL: true,
  apiKey: true,
  headers: true,
  fetch: true,
  env: true,
}

/** A provider, a model of it, and what the caller has said about reaching it. */
export interface Target {
  readonly provider: string
  readonly definition: ProviderDefinition
  readonly baseURL: string
  readonly peer: Peer
  readonly options: ConnectionOptions
}

/** @throws ConfigurationError when there is no such provider, or no base URL is known for it. */
export function targetOf(provider: string, options: ConnectionOptions): Target {
  const definition = definitionOf(provider)
  const baseURL = requireBaseUrl(provider, options)
  return { provider, definition, baseURL, peer: { provider, host: new URL(baseURL).host }, options }
}

/**
 * Sends a request to a provider: with its key, where there is one, and the caller's headers, which win. Redirects are followed on the same origin only.
 *
 * @throws ConfigurationError for a header that cannot be sent; CriaError when nothing could be sent.
 */
export function post(target: Target, { path, headers, body }: Encoded, signal: AbortSignal | undefined): Promise<Response> {
  const { definition, options, baseURL, peer } = target
  const key = keyOf(definition, options)
  for (const [name, value] of Object.entries(options.headers ?? {})) requireHeader(name, value)
  const sent = new Headers({ 'content-type': 'application/json', ...definition.headers, ...headers })
  for (const [name, value] of Object.entries({ ...(key === undefined ? {} : definition.auth(key)), ...options.headers }))
    sent.set(name, value)
  const init = {
    method: 'POST',
    headers: sent,
    body: JSON.stringify(accepted(body, definition)),
    ...(signal === undefined ? {} : { signal }),
  }
  return send(options.fetch ?? globalThis.fetch, baseURL + path, init, peer)
}

function accepted(body: Encoded['body'], { refuses = [] }: ProviderDefinition): Encoded['body'] {
  return refuses.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !refuses.includes(name)))
}

/** What an error may say of the provider, and what it must not. */
export function errorContext({ provider, definition, peer, options }: Target): Omit<ErrorContext, 'ref' | 'knownModels'> {
  return {
    provider,
    host: peer.host,
    get secrets() {
      return [keyOf(definition, options), ...secretHeaders(options.headers)]
    },
    variables: {
      ...(definition.keyVariable === undefined ? {} : { key: definition.keyVariable }),
      baseURL: definition.urlVariable,
    },
  }
}

/** @throws CriaError `auth` when there is no key and the provider wants one, or what stands for it cannot be sent. */
export function requireKey(provider: string, baseURL: string, options: ConnectionOptions): void {
  const definition = definitionOf(provider)
  const signsItself = Object.keys(options.headers ?? {}).some((name) => CREDENTIAL.test(name))
  const key = keyOf(definition, options)
  if (key === undefined && !signsItself && needsKey(definition, baseURL)) throw missingKey(provider, definition)
  if (key !== undefined && !SENDABLE.test(key)) throw brokenKey(provider, definition, options)
}

/** @throws ConfigurationError when no base URL is known. */
function requireBaseUrl(provider: string, options: ConnectionOptions): string {
  const definition = definitionOf(provider)
  const baseURL = baseUrlOf(definition, options)
  if (baseURL === undefined) {
    throw new ConfigurationError(
      `The base URL of ${provider} is not known: set ${definition.urlVariable}, or the option baseURL.`,
    )
  }
  return baseURL
}

export function baseUrlOf(
  { home, urlVariable, normalize }: ProviderDefinition,
  { baseURL, env = environment() }: ConnectionOptions,
): string | undefined {
  if (baseURL !== undefined) return normalize(baseURL, 'The option baseURL')
  const given = (env[urlVariable] ?? '').trim()
  return given === '' ? home : normalize(given, urlVariable)
}

export function keyOf(
  { keyVariable }: ProviderDefinition,
  { apiKey, env = environment() }: ConnectionOptions,
): string | undefined {
  const key = (apiKey ?? (keyVariable === undefined ? undefined : env[keyVariable]) ?? '').trim()
  return key === '' ? undefined : key
}

export function needsKey({ home, keyVariable }: ProviderDefinition, baseURL: string): boolean {
  return keyVariable !== undefined && home !== undefined && baseURL === home
}

function missingKey(provider: string, { keyVariable }: ProviderDefinition): CriaError {
  const name = keyVariable ?? 'the key'
  return new CriaError(
    'auth',
    `${provider}: there is no API key. Set ${name} in the environment (in code also: the option apiKey).`,
    {
      hint: `\`cria doctor\` tells whether ${name} is seen, and what else is configured.`,
    },
  )
}

/** Keys come by way of the clipboard, with line breaks and characters that nobody sees. */
function brokenKey(provider: string, { keyVariable }: ProviderDefinition, { apiKey }: ConnectionOptions): CriaError {
  const source = apiKey === undefined ? (keyVariable ?? 'The key') : 'The option apiKey'
  return new CriaError('auth', `${provider}: ${source} holds a line break or a character that no key has.`, {
    hint: 'Copy the key once more, in one line and without anything around it.',
  })
}

/** @throws ConfigurationError that does not repeat the value, which may be secret. */
function requireHeader(name: string, value: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new ConfigurationError(`There is no header named ${JSON.stringify(name)}.`)
  if (!SENDABLE.test(value))
    throw new ConfigurationError(`The header ${name} holds a line break or a character that no header has.`)
}

/** What may stand in a header (RFC 9110, section 5.5). */
const SENDABLE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/

const CREDENTIAL = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i
const SECRET_HEADER = /auth|key|token|cookie|secret/i

function secretHeaders(headers: ConnectionOptions['headers']): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value, value.replace(/^\w+ /, '')] : [],
  )
}
