/**
 * Recognises AI SDK models, and tells a model from others of its name: where it is, as whom it is asked, and what else has a say in its answers. That is
 * a hash: keys and headers are part of it and do not stand in it.
 */

import { canonicalJson, nameOfObject, sha256 } from '../util/hash.ts'
import { isPromise } from '../util/promise.ts'

export interface Place {
  readonly baseURL: string | undefined
  readonly key?: string | undefined
  readonly headers?: unknown
  /** One of its own may lead anywhere. */
  readonly fetch?: unknown
  readonly settings?: unknown
}

export function identityOf({ fetch: own, ...place }: Place): string {
  return sha256(canonicalJson({ ...place, fetch: typeof own === 'function' ? nameOfObject(own) : null }))
}

/**
 * Of a model that its owner made with a package of the AI SDK. The packages keep their settings in a member `config`, by which two models that were
 * made alike are known to be alike; where it cannot be read, each object is a model of its own.
 */
export function foreignIdentity(model: object): string {
  const { config, settings } = model as Readonly<Record<string, unknown>>
  const {
    baseURL,
    url,
    headers,
    fetch: own,
    provider,
    transformRequestBody,
  } = Object(config) as Readonly<Record<string, unknown>>
  try {
    const place: unknown = isFunction(url) ? url({ path: '/', modelId: '' }) : baseURL
    const sent: unknown = isFunction(headers) ? headers() : headers
    // A promise of headers would have to be waited for.
    const isPlain = sent === undefined || (typeof sent === 'object' && sent !== null && !isPromise(sent))
    if (typeof place !== 'string' || !isPlain) return nameOfObject(model)
    const transform = typeof transformRequestBody === 'function' ? nameOfObject(transformRequestBody) : undefined
    // OpenAI's two APIs are at one place: the provider tells them apart.
    return identityOf({ baseURL: place, headers: sent, fetch: own, settings: { provider, settings, transform } })
  } catch {
    return nameOfObject(model)
  }
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

/** The members that are read of any AI SDK model, of versions 2 to 4. */
interface SdkModel {
  readonly provider: string
  readonly modelId: string
}

/** Tells whether a value is an AI SDK model. @param method that makes its request: `doEmbed`. */
export function isSdkModel(value: unknown, method: string): value is SdkModel {
  const { provider, modelId, specificationVersion: version, [method]: request } = Object(value) as Record<string, unknown>
  return [provider, modelId, version].every((member) => typeof member === 'string') && typeof request === 'function'
}

/** The provider is named with the kind of the model: `openai.embedding`. */
export function sdkNames({ provider: named, modelId }: SdkModel): { readonly provider: string; readonly ref: string } {
  const provider = named.split('.', 1)[0] ?? named
  return { provider, ref: `${provider}/${modelId}` }
}
