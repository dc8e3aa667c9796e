/** Makes models from names, and from AI SDK models that a user brings. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { createAdapter } from './adapter.ts'
import type { AiSdkModel } from './ai-sdk/language-model.ts'
import { fromLanguageModel, isLanguageModel } from './ai-sdk/language-model.ts'
import { APIS } from './apis.ts'
import { baseUrlOf, errorContext, keyOf, needsKey, post, requireKey, targetOf } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import { STYLES } from './conversation/style.ts'
import { knownModels, modelFacts } from './facts.ts'
import { identityOf } from './identity.ts'
import { optionsOf } from './provider-options.ts'
import { definitionOf } from './registry.ts'

export type { AiSdkModel } from './ai-sdk/language-model.ts'

export interface ProviderOptions extends ConnectionOptions {
  /** What the caller knows better than the catalogue. */
  readonly facts?: Partial<ModelFacts>
  /** Splits `<think>…</think>` at the beginning of an answer into thinking. Default: text stays text. */
  readonly thinkTags?: boolean
  /** Largest event of a stream, in characters. Default 32 Mi. */
  readonly maxEventBytes?: number
  /** Longest stream, in bytes. Default 256 MB; one that is longer ends in an error that keeps what came. */
  readonly maxAnswerBytes?: number
}

/** What is configured of a provider. */
export interface ProviderStatus {
  readonly provider: string
  readonly baseURL: string | undefined
  readonly keyVariable: string | undefined
  readonly hasKey: boolean
  /** The provider itself needs a key; another server that speaks its API may not. */
  readonly needsKey: boolean
}

/**
 * The model with this name. Nothing is loaded and nothing is sent before its first use, and a missing key is reported then: a fallback that is never asked
 * needs none.
 *
 * @param ref `provider/model`; the model's own name may contain slashes.
 * @throws ConfigurationError when there is no such provider, or its base URL is not known.
 */
export function createProviderModel(ref: string, options: ProviderOptions = {}): LanguageModel {
  const slash = ref.indexOf('/')
  const provider = ref.slice(0, slash)
  const model = ref.slice(slash + 1)
  const definition = definitionOf(provider)
  if (slash < 1 || model === '')
    throw new ConfigurationError(`A model is named provider/model, like openai/gpt-5-mini, but this is ${JSON.stringify(ref)}.`)
  const target = targetOf(provider, options)
  const { baseURL, peer } = target

  return createAdapter({
    ref,
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
    exchange: {
      errors: Object.assign(errorContext(target), { knownModels: () => knownModels(provider, baseURL) }),
      thinkTags: options.thinkTags ?? false,
      async open({ model: { facts }, request, names, signal, warn }) {
        requireKey(provider, baseURL, options)
        const [{ wireSource }, api] = await Promise.all([import('./wire/answer-source.ts'), APIS[definition.api]()])
        const style = STYLES[definition.style]
        const given = optionsOf(request.providerOptions, provider, definition)
        const encoded = api.encode({ model, ref, facts, request, style, names, options: given, warn })
        const send = (): Promise<Response> => post(target, encoded, signal)
        return {
          source: wireSource({
            api,
            peer,
            request: send,
            maxEventBytes: options.maxEventBytes,
            maxAnswerBytes: options.maxAnswerBytes,
          }),
          readUsage: api.readUsage,
        }
      },
    },
  })
}

/** @throws ConfigurationError when there is no such provider, or its base URL cannot be used. */
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

/** @throws CriaError `auth` when a request could not be sent: there is no key where one is needed, or none that can be sent. */
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
