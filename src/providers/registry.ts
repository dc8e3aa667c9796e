/**
 * Lists the providers, as data. A provider with a supported API needs one entry here, which the configuration, `cria models` and `cria doctor` read.
 * docs/providers.md explains how to add a provider or an API.
 */

import { ConfigurationError } from '../core/error.ts'
import type { ModelFacts } from '../core/model.ts'
import type { ApiName } from './api.ts'
import type { StyleName } from './conversation/style.ts'

export interface ProviderDefinition {
  readonly api: ApiName
  /** Rules for its conversations, which differ between APIs and between servers of one API. */
  readonly style: StyleName
  /** Environment variable that holds the key; `undefined`: the provider needs no key. */
  readonly keyVariable: string | undefined
  /** Environment variable that holds the base URL. */
  readonly urlVariable: string
  /** Default base URL; `undefined`: the user must set one. */
  readonly home: string | undefined
  /** Appended to a base URL that does not end in a version. */
  readonly version?: string
  /** Normalises a base URL that the user set; default `normalizeBaseUrl`. @throws ConfigurationError */
  readonly normalize?: (url: string) => string
  /** Returns the headers that carry the key. */
  readonly auth: (key: string) => Readonly<Record<string, string>>
  /** Headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further names of its `providerOptions`, beside its own. */
  readonly optionNames?: readonly string[]
  /** Facts that hold for all of its models. */
  readonly facts?: Partial<ModelFacts>
  /** Its id in the price data; default: found there by its base URL. */
  readonly pricedAs?: string
  /** The default base URL is a local server, which answers at once if it runs. */
  readonly isLocal?: true
  /** Provider with which it shares key and base URL; it is not checked separately. */
  readonly sharesWith?: string
  /** The model that is used if only the provider's key is set. */
  readonly suggested?: string
  /** Members of its API's requests that this provider refuses. */
  readonly refuses?: readonly string[]
  /** Absent if the provider has no embedding models. */
  readonly embedding?: EmbeddingDefinition
}

export interface EmbeddingDefinition {
  readonly api: 'openai' | 'gemini'
  /** Maximum number of texts in one request, if the provider documents it. */
  readonly maxBatch?: number
}

const OLLAMA_PORT = 11434

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

const OPENAI = {
  keyVariable: 'OPENAI_API_KEY',
  urlVariable: 'OPENAI_BASE_URL',
  home: 'https://api.openai.com/v1',
  auth: bearer,
  pricedAs: 'openai',
} as const

/** Servers with an API that is compatible with Chat Completions. */
const CHAT = { api: 'chat', style: 'compatible', auth: bearer } as const
const COMPATIBLE = { ...CHAT, optionNames: ['openaiCompatible', 'openai-compatible'], embedding: { api: 'openai' } } as const

/** Creates the entry of a hosting provider. @param name its id in the price data and, in capitals, the beginning of its variables. */
function hosted(name: string, home: string, more: Partial<ProviderDefinition> = {}): ProviderDefinition {
  const prefix = name.toUpperCase()
  return { ...CHAT, keyVariable: `${prefix}_API_KEY`, urlVariable: `${prefix}_BASE_URL`, home, pricedAs: name, ...more }
}

export const PROVIDERS: Readonly<Record<string, ProviderDefinition>> = {
  openai: {
    ...OPENAI,
    api: 'responses',
    style: 'responses',
    suggested: 'gpt-5-mini',
    embedding: { api: 'openai', maxBatch: 2048 },
  },
  'openai-chat': { ...OPENAI, api: 'chat', style: 'chat', optionNames: ['openai'], sharesWith: 'openai' },
  anthropic: {
    api: 'messages',
    style: 'messages',
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    home: 'https://api.anthropic.com/v1',
    version: 'v1',
    auth: (key) => ({ 'x-api-key': key }),
    headers: { 'anthropic-version': '2023-06-01' },
    pricedAs: 'anthropic',
    suggested: 'claude-sonnet-4-5',
  },
  google: {
    api: 'gemini',
    style: 'gemini',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    home: 'https://generativelanguage.googleapis.com/v1beta',
    version: 'v1beta',
    auth: (key) => ({ 'x-goog-api-key': key }),
    pricedAs: 'google',
    suggested: 'gemini-2.5-flash',
    embedding: { api: 'gemini', maxBatch: 100 },
  },
  ollama: {
    ...COMPATIBLE,
    keyVariable: undefined,
    urlVariable: 'OLLAMA_HOST',
    home: ollamaBaseUrl(undefined),
    normalize: ollamaBaseUrl,
    facts: { cutsSilently: true },
    isLocal: true,
  },
  azure: {
    api: 'chat',
    style: 'chat',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    urlVariable: 'AZURE_OPENAI_ENDPOINT',
    home: undefined,
    version: 'openai/v1',
    auth: (key) => ({ 'api-key': key }),
    optionNames: ['openai'],
    pricedAs: 'azure',
    embedding: { api: 'openai', maxBatch: 2048 },
  },
  mistral: hosted('mistral', 'https://api.mistral.ai/v1', {
    style: 'strict',
    refuses: ['stream_options', 'seed'],
    suggested: 'mistral-small-latest',
    embedding: { api: 'openai' },
  }),
  deepseek: hosted('deepseek', 'https://api.deepseek.com/v1', { suggested: 'deepseek-v4-flash' }),
  groq: hosted('groq', 'https://api.groq.com/openai/v1', { style: 'strict', suggested: 'openai/gpt-oss-120b' }),
  openrouter: hosted('openrouter', 'https://openrouter.ai/api/v1', { suggested: 'openrouter/auto' }),
  together: hosted('together', 'https://api.together.xyz/v1', { embedding: { api: 'openai' } }),
  xai: hosted('xai', 'https://api.x.ai/v1', { pricedAs: 'x-ai', suggested: 'grok-4.6' }),
  fireworks: hosted('fireworks', 'https://api.fireworks.ai/inference/v1', { embedding: { api: 'openai' } }),
  cerebras: hosted('cerebras', 'https://api.cerebras.ai/v1', { style: 'strict', suggested: 'gpt-oss-120b' }),
  perplexity: hosted('perplexity', 'https://api.perplexity.ai', { style: 'strict', facts: { tools: false }, suggested: 'sonar' }),
  moonshot: hosted('moonshot', 'https://api.moonshot.ai/v1', { pricedAs: 'moonshotai', suggested: 'kimi-k2.6' }),
  'openai-compatible': {
    ...COMPATIBLE,
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    urlVariable: 'OPENAI_COMPATIBLE_BASE_URL',
    home: undefined,
  },
}

export const PROVIDER_NAMES: readonly string[] = Object.keys(PROVIDERS)

export function isProvider(name: string): boolean {
  return Object.hasOwn(PROVIDERS, name)
}

/** @throws ConfigurationError when the provider is not known. */
export function definitionOf(name: string): ProviderDefinition {
  const definition = isProvider(name) ? PROVIDERS[name] : undefined
  if (definition !== undefined) return definition
  throw new ConfigurationError(`There is no provider ${JSON.stringify(name)}. The providers are ${PROVIDER_NAMES.join(', ')}.`)
}

/**
 * Splits `provider/model`; the model's own name may contain slashes.
 * @throws ConfigurationError when the name is not of that form.
 */
export function splitRef(ref: string, what: string, example: string): { readonly provider: string; readonly name: string } {
  const slash = ref.indexOf('/')
  if (slash > 0 && slash < ref.length - 1) return { provider: ref.slice(0, slash), name: ref.slice(slash + 1) }
  throw new ConfigurationError(`${what} is named provider/model, like ${example}, but this is ${JSON.stringify(ref)}.`)
}

/**
 * @param source the variable or option that holds the URL, for error messages: `OPENAI_BASE_URL`.
 * @param version appended if the path does not end in a version (`/v1`, `/v1beta`), since tools differ in whether the variable includes it.
 * @throws ConfigurationError when the value is not an http(s) URL, or holds a name and a password.
 */
export function normalizeBaseUrl(given: string, source: string, version?: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError(
      `${source} must be a URL that begins with http:// or https://, but is ${JSON.stringify(withoutUserInfo(given))}.`,
    )
  }
  // Credentials end up in the path if the password holds a slash, or if the scheme was doubled.
  if (url.username !== '' || url.password !== '' || /:[^@]*@/.test(url.pathname)) {
    throw new ConfigurationError(
      `${source} must not hold a name and a password (${JSON.stringify(withoutUserInfo(given))}): \`fetch\` refuses such a URL. Send them as a header.`,
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = version === undefined || /\/v\d+\w*$/.test(path) ? path : `${path}/${version}`
  return url.href.replace(/\/$/, '')
}

/**
 * Returns the base URL of Ollama's OpenAI-compatible API. `OLLAMA_HOST` may be a host, a port (`:11434`), both, or a URL; a listen address
 * (`0.0.0.0`) becomes the loopback address.
 * @throws ConfigurationError when the value has none of these forms.
 */
export function ollamaBaseUrl(host: string | undefined): string {
  const given = (host ?? '').trim() || '127.0.0.1'
  const isUrl = given.includes('://')
  const url = isUrl ? given : `http://${given.startsWith(':') ? '127.0.0.1' : ''}${given}`
  const base = new URL(normalizeBaseUrl(url, 'OLLAMA_HOST', 'v1'))
  if (base.hostname === '0.0.0.0' || base.hostname === '[::]') base.hostname = '127.0.0.1'
  const hasPort = /:\d+(?:[/?#]|$)/.test(given.replace(/^\w+:\/\//, ''))
  if (!hasPort && (!isUrl || base.protocol === 'http:')) base.port = String(OLLAMA_PORT)
  return base.href.replace(/\/$/, '')
}

/** Masks everything before the last `@`: in an invalid URL, the password may be anywhere there. */
function withoutUserInfo(url: string): string {
  return url.replace(/^(\w+:\/\/)?.*(?=@|%40)/s, '$1…')
}
