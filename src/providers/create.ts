/** Makes models from names, and from AI SDK models that a user brings. */

import { ConfigurationError, CriaError } from '../core/error.ts'
import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { createAdapter } from './ai-sdk/adapter.ts'
import type { AiSdkModel } from './ai-sdk/foreign.ts'
import { fromLanguageModel, isLanguageModel } from './ai-sdk/foreign.ts'
import { knownModels, modelFacts } from './facts.ts'
import { ALWAYS_THINKS } from './facts-table.ts'
import type { ProviderDefinition } from './registry.ts'
import { PROVIDER_DEFINITIONS } from './registry.ts'
import { WireCall } from './wire/call.ts'

export type { AiSdkModel } from './ai-sdk/foreign.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ProviderOptions {
  /** Where the provider is; default its own place, or the environment's (`OPENAI_BASE_URL`, …). */
  readonly baseURL?: string
  /** Overrides the environment's; stands in no message, event or row. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the global one; redirects are followed by us. */
  readonly fetch?: typeof fetch
  /** Default `process.env`. */
  readonly env?: Environment
  /** What the caller knows better than the catalogue. */
  readonly facts?: Partial<ModelFacts>
  /** Splits `<think>…</think>` at the beginning of an answer into thinking. Default: text stays text. */
  readonly thinkTags?: boolean
  /** Largest event of a stream, in bytes. Default 32 MB. */
  readonly maxEventBytes?: number
}

/** Where a provider is and whether a key for it was found; for those who tell a person what is configured. */
export interface ProviderStatus {
  readonly provider: string
  readonly baseURL: string | undefined
  readonly keyVariable: string | undefined
  readonly hasKey: boolean
  /** Its own place wants a key; another one may not. */
  readonly needsKey: boolean
}

/**
 * The model with this name. Nothing is loaded and nothing is sent before its first use; a missing key is found then, since a model that only
 * stands by needs none.
 *
 * @param ref `provider/model`; the model's own name may contain slashes.
 * @throws ConfigurationError when there is no such provider, or nobody said where it is.
 */
export function createProviderModel(ref: string, options: ProviderOptions = {}): LanguageModel {
  const slash = ref.indexOf('/')
  const provider = ref.slice(0, slash)
  const model = ref.slice(slash + 1)
  const definition = definitionOf(provider)
  if (slash < 1 || model === '')
    throw new ConfigurationError(`A model is named provider/model, like openai/gpt-5-mini, but this is ${JSON.stringify(ref)}.`)
  const baseURL = baseUrlOf(definition, options)
  if (baseURL === undefined) {
    throw new ConfigurationError(`Nobody said where ${provider} is: set ${definition.urlVariable}, or the option baseURL.`)
  }
  const host = new URL(baseURL).host
  const secrets = (): readonly (string | undefined)[] => [keyOf(definition, options), ...secretHeaders(options.headers)]

  return createAdapter({
    ref,
    style: definition.style,
    providerOptions: definition.providerOptions,
    facts: () => ({ ...modelFacts(provider, model, baseURL), ...options.facts }),
    alwaysThinks: ALWAYS_THINKS.test(model),
    thinkTags: options.thinkTags ?? false,
    errors: {
      provider,
      host,
      get secrets() {
        return secrets()
      },
      variables: {
        ...(definition.keyVariable === undefined ? {} : { key: definition.keyVariable }),
        baseURL: definition.urlVariable,
      },
      knownModels: () => knownModels(provider, baseURL),
    },
    async open(callOptions) {
      const key = keyOf(definition, options)
      const signsItself = Object.keys(options.headers ?? {}).some((name) => CREDENTIAL.test(name))
      if (key === undefined && !signsItself && needsKey(definition, baseURL)) throw missingKey(provider, definition)
      const wire = new WireCall({
        peer: { provider, host },
        dialect: definition.dialect,
        ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
        ...(options.maxEventBytes === undefined ? {} : { maxEventBytes: options.maxEventBytes }),
      })
      const create = await definition.load()
      const settings = {
        model,
        baseURL,
        // The packages insist on a key, or look for one themselves where we would not.
        apiKey: key ?? NO_KEY,
        headers: { ...options.headers },
        fetch: key === undefined ? withoutKey(wire.fetch, options.headers) : wire.fetch,
      }
      return { model: await create(settings, callOptions), wire }
    },
  })
}

/** @throws ConfigurationError when there is no such provider, or its base URL is none. */
export function providerStatus(provider: string, options: ProviderOptions = {}): ProviderStatus {
  const definition = definitionOf(provider)
  const baseURL = baseUrlOf(definition, options)
  return {
    provider,
    baseURL,
    keyVariable: definition.keyVariable,
    hasKey: keyOf(definition, options) !== undefined,
    needsKey: baseURL !== undefined && needsKey(definition, baseURL),
  }
}

/** Any AI SDK language model, of version 2 or later. */
export function fromAiSdkModel(model: AiSdkModel): LanguageModel {
  return fromLanguageModel(model)
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return isLanguageModel(value)
}

function definitionOf(provider: string): ProviderDefinition {
  const definition = Object.hasOwn(PROVIDER_DEFINITIONS, provider) ? PROVIDER_DEFINITIONS[provider] : undefined
  if (definition === undefined) {
    throw new ConfigurationError(
      `There is no provider ${JSON.stringify(provider)}. The providers are ${Object.keys(PROVIDER_DEFINITIONS).join(', ')}.`,
    )
  }
  return definition
}

function baseUrlOf(
  { home, urlVariable, normalize }: ProviderDefinition,
  { baseURL, env = process.env }: ProviderOptions,
): string | undefined {
  if (baseURL !== undefined) return normalize(baseURL, 'The option baseURL')
  const given = (env[urlVariable] ?? '').trim()
  return given === '' ? home : normalize(given, urlVariable)
}

function keyOf({ keyVariable }: ProviderDefinition, { apiKey, env = process.env }: ProviderOptions): string | undefined {
  const key = (apiKey ?? (keyVariable === undefined ? undefined : env[keyVariable]) ?? '').trim()
  return key === '' ? undefined : key
}

function needsKey({ home, keyVariable }: ProviderDefinition, baseURL: string): boolean {
  return keyVariable !== undefined && home !== undefined && baseURL === home
}

function missingKey(provider: string, { keyVariable }: ProviderDefinition): CriaError {
  return new CriaError('auth', `${provider}: there is no API key. Set ${keyVariable ?? 'a key'}, or pass the option apiKey.`, {
    hint: `Set ${keyVariable ?? 'the key'} in the environment; \`cria doctor\` tells what is configured.`,
  })
}

const CREDENTIAL = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i
const SECRET_HEADER = /auth|key|token|cookie|secret/i

function secretHeaders(headers: ProviderOptions['headers']): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value, value.replace(/^\w+ /, '')] : [],
  )
}

const NO_KEY = 'no-key'

/** A server that wants no key is not sent one that means nothing. */
function withoutKey(base: typeof fetch, given: ProviderOptions['headers']): typeof fetch {
  return (url, init) => {
    const headers = new Headers(init?.headers)
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key'])
      if ((headers.get(name) ?? '').includes(NO_KEY)) headers.delete(name)
    for (const [name, value] of Object.entries(given ?? {})) if (CREDENTIAL.test(name)) headers.set(name, value)
    return base(url, { ...init, headers })
  }
}
