/** Makes models from names, and from AI SDK models that a user brings. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { createAdapter } from './ai-sdk/adapter.ts'
import type { AiSdkModel } from './ai-sdk/foreign.ts'
import { fromLanguageModel, isLanguageModel } from './ai-sdk/foreign.ts'
import { identityOf } from './ai-sdk/identity.ts'
import { baseUrlOf, definitionOf, keyOf, needsKey, packageSettings, requireBaseUrl, requireKey, secretsOf } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import { knownModels, modelFacts } from './facts.ts'
import { ALWAYS_THINKS } from './facts-table.ts'

export type { AiSdkModel } from './ai-sdk/foreign.ts'

export interface ProviderOptions extends ConnectionOptions {
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
  const baseURL = requireBaseUrl(provider, options)
  const host = new URL(baseURL).host

  return createAdapter({
    ref,
    style: definition.style,
    providerOptions: definition.providerOptions,
    facts: () => ({ ...modelFacts(provider, model, baseURL), ...definition.facts, ...options.facts }),
    identity: () =>
      identityOf({
        baseURL: baseUrlOf(definition, options),
        key: keyOf(definition, options),
        headers: options.headers,
        fetch: options.fetch,
        // What is known of a model has a say in what it is asked.
        settings: { thinkTags: options.thinkTags, facts: options.facts },
      }),
    alwaysThinks: ALWAYS_THINKS.test(model),
    thinkTags: options.thinkTags ?? false,
    errors: {
      provider,
      host,
      get secrets() {
        return secretsOf(provider, options)
      },
      variables: {
        ...(definition.keyVariable === undefined ? {} : { key: definition.keyVariable }),
        baseURL: definition.urlVariable,
      },
      knownModels: () => knownModels(provider, baseURL),
    },
    async open(callOptions) {
      requireKey(provider, baseURL, options)
      const [{ WireCall }, dialect, create] = await Promise.all([
        import('./wire/call.ts'),
        definition.dialect(),
        definition.load(),
      ])
      const wire = new WireCall({
        peer: { provider, host },
        dialect,
        ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
        ...(options.maxEventBytes === undefined ? {} : { maxEventBytes: options.maxEventBytes }),
      })
      const settings = packageSettings({ provider, model }, baseURL, options, wire.fetch)
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

/** @throws CriaError `auth` as a request would, which is not made: there is no key where one is needed, or none that can be sent. */
export function checkKey(provider: string, options: ProviderOptions = {}): void {
  const baseURL = baseUrlOf(definitionOf(provider), options)
  if (baseURL !== undefined) requireKey(provider, baseURL, options)
}

/** Any AI SDK language model, of version 2 or later. */
export function fromAiSdkModel(model: AiSdkModel): LanguageModel {
  return fromLanguageModel(model)
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return isLanguageModel(value)
}
