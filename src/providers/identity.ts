/**
 * Recognises AI SDK models, and computes the identity of a model: a hash over its base URL, key, headers and settings, which distinguishes models of
 * the same name. Keys and headers cannot be read from the hash.
 */

import { canonicalJson, nameOfObject, sha256 } from '../util/hash.ts'
import { isPromise } from '../util/promise.ts'

export interface Place {
  readonly baseURL: string | undefined
  readonly key?: string | undefined
  readonly headers?: unknown
  /** A `fetch` of the caller: part of the identity, since it may reach another server. */
  readonly fetch?: unknown
  readonly settings?: unknown
}

export function identityOf({ fetch: own, ...place }: Place): string {
  return sha256(canonicalJson({ ...place, fetch: typeof own === 'function' ? nameOfObject(own) : null }))
}

/**
 * Computes the identity of an AI SDK model. The packages keep their settings in a member `config`, so models with equal settings get the same
 * identity; if it cannot be read, each object has an identity of its own.
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
    // Headers in a promise cannot be read, because this function is synchronous.
    const isPlain = sent === undefined || (typeof sent === 'object' && sent !== null && !isPromise(sent))
    if (typeof place !== 'string' || !isPlain) return nameOfObject(model)
    const transform = typeof transformRequestBody === 'function' ? nameOfObject(transformRequestBody) : undefined
    // OpenAI's two APIs share a base URL; `provider` distinguishes them.
    return identityOf({ baseURL: place, headers: sent, fetch: own, settings: { provider, settings, transform } })
  } catch {
    return nameOfObject(model)
  }
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

/** Members of AI SDK models of versions 2 to 4. */
interface SdkModel {
  readonly provider: string
  readonly modelId: string
}

/** Returns whether a value is an AI SDK model. @param method name of its request method: `doEmbed`. */
export function isSdkModel(value: unknown, method: string): value is SdkModel {
  const { provider, modelId, specificationVersion: version, [method]: request } = Object(value) as Record<string, unknown>
  return [provider, modelId, version].every((member) => typeof member === 'string') && typeof request === 'function'
}

/** Returns the provider and `provider/model`; the SDK names a provider with the kind of the model: `openai.embedding`. */
export function sdkNames({ provider: named, modelId }: SdkModel): { readonly provider: string; readonly ref: string } {
  const provider = named.split('.', 1)[0] ?? named
  return { provider, ref: `${provider}/${modelId}` }
}
