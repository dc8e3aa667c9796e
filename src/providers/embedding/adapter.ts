/** Makes an embedding model of ours of a way to ask for vectors, or of an AI SDK embedding model. */

import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { EmbeddingModel, EmbeddingPurpose, EmbedOptions } from '../../core/embedding.ts'
import { CriaError } from '../../core/error.ts'
import { orAborted } from '../../util/abort.ts'
import type { ErrorContext } from '../errors/errors.ts'

/** What versions 2, 3 and 4 have in common. */
export interface AiSdkEmbeddingModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** For example `openai.embedding`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly modelId: string
  /** Texts in one request at most; `undefined`: no limit is known. */
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined
  /** Several requests may be made at the same time. */
  readonly supportsParallelCalls: PromiseLike<boolean> | boolean
  /** Makes one request. */
  doEmbed(options: never): PromiseLike<unknown>
}

export interface EmbeddingAdapterOptions extends Pick<
  EmbeddingModel,
  'ref' | 'dimensions' | 'maxBatch' | 'maxTokens' | 'parallel'
> {
  readonly errors: Omit<ErrorContext, 'ref'>
  /** The vectors as they came, in the order of the texts. */
  readonly request: (texts: readonly string[], purpose: EmbeddingPurpose, signal: AbortSignal) => PromiseLike<unknown>
}

export function isEmbeddingModel(value: unknown): value is AiSdkEmbeddingModel {
  if (typeof value !== 'object' || value === null) return false
  const { specificationVersion, doEmbed, modelId } = value as Partial<Record<keyof AiSdkEmbeddingModel, unknown>>
  return typeof specificationVersion === 'string' && typeof doEmbed === 'function' && typeof modelId === 'string'
}

export function fromEmbeddingModel(model: AiSdkEmbeddingModel): EmbeddingModel {
  const provider = model.provider.split('.', 1)[0] ?? model.provider
  const { maxEmbeddingsPerCall, supportsParallelCalls } = model
  return createEmbeddingAdapter({
    ref: `${provider}/${model.modelId}`,
    errors: { provider, secrets: [] },
    ...(typeof maxEmbeddingsPerCall === 'number' ? { maxBatch: maxEmbeddingsPerCall } : {}),
    ...(supportsParallelCalls === false ? { parallel: false } : {}),
    async request(texts, _, abortSignal) {
      const { embeddings } = await (model as unknown as EmbeddingModelV4).doEmbed({ values: [...texts], abortSignal })
      return embeddings
    },
  })
}

export function createEmbeddingAdapter(options: EmbeddingAdapterOptions): EmbeddingModel {
  const { ref, dimensions, maxBatch, maxTokens, parallel } = options
  return {
    ref,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(maxBatch === undefined ? {} : { maxBatch }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(parallel === undefined ? {} : { parallel }),
    embed: (texts, call = {}) => embed(options, texts, call),
  }
}

async function embed(
  options: EmbeddingAdapterOptions,
  texts: readonly string[],
  { signal, purpose = 'document' }: EmbedOptions,
): Promise<Float32Array[]> {
  if (texts.length === 0) return []
  const errors: ErrorContext = { ...options.errors, ref: options.ref }
  // `fetch` leaves its listener on the signal until it is collected; the caller's signal may serve a thousand calls.
  const own = new AbortController()
  const onAbort = (): void => own.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    const request = options.request(
      texts.map((text) => text.toWellFormed()),
      purpose,
      own.signal,
    )
    // A model that does not listen to its signal is left alone.
    const embeddings = await orAborted(Promise.resolve(request), own.signal)
    return vectorsOf(embeddings, texts.length, options.ref)
  } catch (thrown) {
    if (signal?.aborted === true) throw signal.reason
    const { toProviderError } = await import('../errors/errors.ts')
    throw toProviderError(thrown, errors, 'request')
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

function vectorsOf(embeddings: unknown, expected: number, ref: string): Float32Array[] {
  if (!Array.isArray(embeddings) || embeddings.length !== expected) {
    const received = Array.isArray(embeddings) ? `${embeddings.length} vectors` : 'no list of vectors'
    throw new CriaError('invalid_response', `${ref}: expected ${expected} vectors, received ${received}.`, { retryable: false })
  }
  return embeddings.map((embedding: unknown) => {
    if (embedding instanceof Float32Array) return embedding
    if (!Array.isArray(embedding) || !embedding.every((number) => typeof number === 'number'))
      throw new CriaError('invalid_response', `${ref}: a vector is not a list of numbers.`, { retryable: false })
    return Float32Array.from(embedding)
  })
}
