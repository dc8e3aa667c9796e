/** How a provider is reached: its place, its key, and a `fetch` that sends no key that is none. */

import { environment } from '../util/environment.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { PackageSettings, ProviderDefinition } from './registry.ts'
import { PROVIDER_DEFINITIONS } from './registry.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ConnectionOptions {
  /** Where the provider is; default its own place, or the environment's (`OPENAI_BASE_URL`, …). */
  readonly baseURL?: string
  /** Overrides the environment's; stands in no message, event or row. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the global one; redirects are followed by us. */
  readonly fetch?: typeof fetch
  /** Default `process.env`. */
  readonly env?: Environment
}

/** Every name, for those who tell a misspelt one. */
export const CONNECTION_OPTIONS: Readonly<Record<keyof ConnectionOptions, true>> = {
  baseURL: true,
  apiKey: true,
  headers: true,
  fetch: true,
  env: true,
}

/**
 * What a package is told to reach its provider.
 *
 * @param wire the `fetch` that mends the traffic.
 * @throws ConfigurationError when a header is none.
 */
export function packageSettings(
  { provider, model }: { readonly provider: string; readonly model: string },
  baseURL: string,
  options: ConnectionOptions,
  wire: typeof fetch,
): PackageSettings {
  const definition = definitionOf(provider)
  const key = keyOf(definition, options)
  for (const [name, value] of Object.entries(options.headers ?? {})) requireHeader(name, value)
  return {
    model,
    baseURL,
    // The packages insist on a key, or look for one themselves where we would not.
    apiKey: key ?? NO_KEY,
    headers: { ...options.headers },
    fetch: key === undefined ? withoutKey(wire, options.headers) : wire,
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

/** @throws ConfigurationError when nobody said where it is. */
export function requireBaseUrl(provider: string, options: ConnectionOptions): string {
  const definition = definitionOf(provider)
  const baseURL = baseUrlOf(definition, options)
  if (baseURL === undefined) {
    throw new ConfigurationError(`Nobody said where ${provider} is: set ${definition.urlVariable}, or the option baseURL.`)
  }
  return baseURL
}

/** What must not be seen in any message. */
export function secretsOf(provider: string, options: ConnectionOptions): readonly (string | undefined)[] {
  return [keyOf(definitionOf(provider), options), ...secretHeaders(options.headers)]
}

/** @throws ConfigurationError when there is no such provider. */
export function definitionOf(provider: string): ProviderDefinition {
  const definition = Object.hasOwn(PROVIDER_DEFINITIONS, provider) ? PROVIDER_DEFINITIONS[provider] : undefined
  if (definition === undefined) {
    throw new ConfigurationError(
      `There is no provider ${JSON.stringify(provider)}. The providers are ${Object.keys(PROVIDER_DEFINITIONS).join(', ')}.`,
    )
  }
  return definition
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

const NO_KEY = 'no-key'

/** A server that wants no key is not sent one that means nothing. */
function withoutKey(base: typeof fetch, given: ConnectionOptions['headers']): typeof fetch {
  return (url, init) => {
    const headers = new Headers(init?.headers)
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key'])
      if ((headers.get(name) ?? '').includes(NO_KEY)) headers.delete(name)
    for (const [name, value] of Object.entries(given ?? {})) if (CREDENTIAL.test(name)) headers.set(name, value)
    return base(url, { ...init, headers })
  }
}
