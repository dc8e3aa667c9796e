/** Adapts AI SDK language models of specification versions 2, 3 and 4. */

import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from '../../core/model.ts'
import { nameOfObject } from '../../util/hash.ts'
import { isPromise } from '../../util/promise.ts'
import { createAdapter } from '../adapter.ts'
import { STYLES } from '../conversation/style.ts'
import type { StyleName } from '../conversation/style.ts'
import type { Place } from '../exchange.ts'
import { modelFacts } from '../facts.ts'

/** The members that AI SDK models of every kind and version have in common. */
export interface AiSdkNames {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** With the kind of the model, for example `openai.responses` or `cohere.reranking`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly modelId: string
}

/** An AI SDK language model of version 2, 3 or 4. */
export interface AiSdkModel extends AiSdkNames {
  /** Makes one request without streaming. */
  doGenerate(options: never): PromiseLike<unknown>
  /** Makes one request that streams. */
  doStream(options: never): PromiseLike<unknown>
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return isSdkModel(value, 'doGenerate') && isSdkModel(value, 'doStream')
}

/** Adapts an AI SDK language model of specification version 2 or later to `LanguageModel`. */
export function fromAiSdkModel(given: AiSdkModel): LanguageModel {
  const { provider, ref } = sdkNames(given)
  const style = STYLES[styleOf(given.provider)]
  return createAdapter({
    ref,
    facts: () => modelFacts(provider, given.modelId),
    identity: () => placeOf(given) ?? nameOfObject(given),
    errors: { provider, secrets: [] },
    async open({ request, names, signal, warn }) {
      const [{ toCallOptions }, { readSdkAnswer }, { readSdkUsage }] = await Promise.all([
        import('./request.ts'),
        import('./source.ts'),
        import('../answer/usage.ts'),
      ])
      const sent = toCallOptions(request, { ref, style, names }, given.specificationVersion, signal)
      return {
        read(answer) {
          answer.isWhole = !request.stream
          return readSdkAnswer(given as unknown as LanguageModelV4, sent, warn, answer)
        },
        readUsage: readSdkUsage,
      }
    },
  })
}

const STYLE_OF: readonly (readonly [RegExp, StyleName])[] = [
  [/^(openai|azure)\.(responses)/, 'responses'],
  [/^(openai|azure)\.(chat)/, 'chat'],
  [/anthropic/, 'messages'],
  [/^(google|vertex)/, 'gemini'],
  [/\.chat$/, 'compatible'],
]

function styleOf(provider: string): StyleName {
  return STYLE_OF.find(([pattern]) => pattern.test(provider))?.[1] ?? 'unknown'
}

/** Returns the settings that the packages keep in a member `config`; `undefined` if they cannot be read. */
function placeOf(model: AiSdkModel): Place | undefined {
  const { config, settings } = model as unknown as Readonly<Record<string, unknown>>
  const {
    baseURL,
    url,
    headers,
    fetch,
    provider,
    transformRequestBody: change,
  } = Object(config) as Readonly<Record<string, unknown>>
  try {
    const place: unknown = isFunction(url) ? url({ path: '/', modelId: '' }) : baseURL
    const sent: unknown = isFunction(headers) ? headers() : headers
    // Headers in a promise cannot be read, because this function is synchronous.
    const isPlain = sent === undefined || (typeof sent === 'object' && sent !== null && !isPromise(sent))
    if (typeof place !== 'string' || !isPlain) return undefined
    const transform = typeof change === 'function' ? nameOfObject(change) : undefined
    // OpenAI's two APIs share a base URL; `provider` distinguishes them.
    return { baseURL: place, headers: sent, fetch, settings: { provider, settings, transform } }
  } catch {
    return undefined
  }
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

/** Returns whether a value is an AI SDK model. @param method name of its request method: `doEmbed`. */
export function isSdkModel(value: unknown, method: string): value is AiSdkNames {
  const { provider, modelId, specificationVersion: version, [method]: request } = Object(value) as Record<string, unknown>
  return [provider, modelId, version].every((member) => typeof member === 'string') && typeof request === 'function'
}

/** Returns the provider and `provider/model`; the SDK names a provider with the kind of the model: `openai.embedding`. */
export function sdkNames({ provider: named, modelId }: AiSdkNames): { readonly provider: string; readonly ref: string } {
  const provider = named.split('.', 1)[0] ?? named
  return { provider, ref: `${provider}/${modelId}` }
}
