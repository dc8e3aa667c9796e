/** Creates embedding models from names, and adapts those of the AI SDK. */

import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { EmbeddingModel, EmbeddingPurpose } from '../../core/retrieval-models.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../util/check.ts'
import { namesOf, unknownOption } from '../../util/nearest.ts'
import { checkKey, CONNECTION_OPTIONS, post, targetOf } from '../connection.ts'
import type { ConnectionOptions } from '../connection.ts'
import type { Encoded } from '../api.ts'
import type { ErrorContext } from '../errors/errors.ts'
import { definitionOf, isProvider, PROVIDER_NAMES, splitRef } from '../registry.ts'
import type { EmbeddingDefinition } from '../registry.ts'
import { isSdkModel, sdkNames } from '../ai-sdk/language-model.ts'
import type { AiSdkNames } from '../ai-sdk/language-model.ts'
import { requestOnce } from '../adapter.ts'
import { objectsIn } from '../wire/json.ts'
import { createLocalEmbeddingModel } from './local.ts'

/** An AI SDK embedding model of version 2, 3 or 4. */
export interface AiSdkEmbeddingModel extends AiSdkNames {
  /** Maximum number of texts in one request; `undefined`: no limit is known. */
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined
  /** Several requests may be made at the same time. */
  readonly supportsParallelCalls: PromiseLike<boolean> | boolean
  /** Makes one request. */
  doEmbed(options: never): PromiseLike<unknown>
}

/** Options of `createEmbeddingModel()`. */
export interface EmbeddingOptions extends ConnectionOptions {
  /** Length of the vectors, for models that offer a choice. A store checks that it matches the stored vectors. */
  readonly dimensions?: number
  /** Maximum number of texts in one request, for a provider that accepts fewer than it documents. */
  readonly maxBatch?: number
  /** Maximum number of tokens that the model reads of a text: longer texts are cut before they are sent. */
  readonly maxTokens?: number
}

const OPTIONS = namesOf<EmbeddingOptions>({ ...CONNECTION_OPTIONS, dimensions: true, maxBatch: true, maxTokens: true })

const LOCAL = 'local'
/** Enough for the vectors of several hundred texts. */
const MAX_BODY_BYTES = 256 * 1024 * 1024

/**
 * Creates the embedding model with this name, or adapts an AI SDK embedding model. Loads and sends nothing before its first
 * request.
 *
 * @param model `openai/…`, `google/…`, `ollama/…`, `openai-compatible/…`, `local/…` (needs `@huggingface/transformers`), or any AI SDK
 *   embedding model.
 * @throws ConfigurationError when the provider is not known, has no embedding models, or needs a base URL that is not set.
 */
export function createEmbeddingModel(model: string | AiSdkEmbeddingModel, options: EmbeddingOptions = {}): EmbeddingModel {
  if (typeof model !== 'string') return fromAiSdk(model)
  const wrong = unknownOption(options, OPTIONS)
  if (wrong !== undefined) throw new ConfigurationError(`createEmbeddingModel() has ${wrong.problem}`, wrong)
  const { provider, name } = splitRef(model, 'An embedding model', 'openai/text-embedding-3-small')
  if (provider === LOCAL) return createLocalEmbeddingModel(name)
  const embedding = isProvider(provider) ? definitionOf(provider).embedding : undefined
  if (embedding === undefined) throw noEmbeddings(provider)
  const target = targetOf(provider, options)
  const { dimensions, maxTokens, maxBatch = embedding.maxBatch } = options
  return adapt({ ref: model, dimensions, maxBatch, maxTokens }, target, async (texts, purpose, signal) => {
    checkKey(provider, target.options)
    const { encode, decode } = APIS[embedding.api]
    const { readWhole } = await import('../wire/read-answer.ts')
    const response = await post(target, encode({ model: name, texts, dimensions, purpose }), signal)
    return decode(await readWhole(response, target, MAX_BODY_BYTES))
  })
}

interface EmbeddingApi {
  readonly encode: (request: {
    readonly model: string
    readonly texts: readonly string[]
    readonly dimensions: number | undefined
    readonly purpose: EmbeddingPurpose
  }) => Encoded
  /** Returns the vectors in the order of the texts, not yet validated. */
  readonly decode: (body: JsonObject) => readonly unknown[]
}

/** Codecs of OpenAI's `/embeddings`, which other servers share, and of Gemini's API. */
const APIS: Readonly<Record<EmbeddingDefinition['api'], EmbeddingApi>> = {
  openai: {
    encode: ({ model, texts, dimensions }) => ({
      path: '/embeddings',
      body: defined<JsonObject>({ model, input: texts, encoding_format: 'float', dimensions }),
    }),
    // Some servers send the vectors out of order, and some in base64 although `float` was requested.
    decode: (body) =>
      objectsIn(body['data'])
        .toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0))
        .map(({ embedding }) => (typeof embedding === 'string' ? decodeBase64(embedding) : embedding)),
  },
  gemini: {
    encode({ model, texts, dimensions, purpose }) {
      const requests = texts.map((text) =>
        defined<JsonObject>({
          model: `models/${model}`,
          content: { role: 'user', parts: [{ text }] },
          outputDimensionality: dimensions,
          taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        }),
      )
      const [only, ...others] = requests
      return only !== undefined && others.length === 0
        ? { path: `/models/${model}:embedContent`, body: only }
        : { path: `/models/${model}:batchEmbedContents`, body: { requests } }
    },
    decode: (body) => [...objectsIn(body['embeddings']), ...objectsIn([body['embedding']])].map(({ values }) => values),
  },
}

function decodeBase64(base64: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / Float32Array.BYTES_PER_ELEMENT))
}

function fromAiSdk(model: AiSdkEmbeddingModel): EmbeddingModel {
  if (!isSdkModel(model, 'doEmbed')) {
    throw new ConfigurationError(
      'An embedding model must be a name like openai/text-embedding-3-small or an AI SDK embedding model.',
    )
  }
  const { maxEmbeddingsPerCall: most, supportsParallelCalls } = model
  const { provider, ref } = sdkNames(model)
  const facts = {
    ref,
    maxBatch: typeof most === 'number' ? most : undefined,
    parallel: supportsParallelCalls === false ? false : undefined,
  }
  return adapt(facts, { provider, secrets: [] }, async (texts, _, abortSignal) => {
    const { embeddings } = await (model as unknown as EmbeddingModelV4).doEmbed({ values: [...texts], abortSignal })
    return embeddings
  })
}

/** @param request resolves to the vectors in the order of the texts, not yet validated. */
function adapt(
  facts: Omit<EmbeddingModel, 'embed'>,
  errors: Omit<ErrorContext, 'ref'>,
  request: (texts: readonly string[], purpose: EmbeddingPurpose, signal: AbortSignal) => Promise<unknown>,
): EmbeddingModel {
  const { ref } = facts
  return {
    ...facts,
    async embed(texts, { signal, purpose = 'document' } = {}) {
      if (texts.length === 0) return []
      const sent = texts.map((text) => text.toWellFormed())
      return requestOnce({ ...errors, ref }, signal, async (own) =>
        vectorsOf(await request(sent, purpose, own), sent.length, ref),
      )
    },
  }
}

function noEmbeddings(provider: string): ConfigurationError {
  const able = PROVIDER_NAMES.filter((name) => definitionOf(name).embedding !== undefined)
  const known = isProvider(provider)
    ? `${provider} has no embedding models.`
    : `There is no provider ${JSON.stringify(provider)}.`
  return new ConfigurationError(`${known} Those with embedding models are ${[...able, LOCAL].join(', ')}.`)
}

function vectorsOf(embeddings: unknown, expected: number, ref: string): Float32Array[] {
  const wrong = (what: string): CriaError => new CriaError('invalid_response', `${ref}: ${what}.`, { retryable: false })
  if (!Array.isArray(embeddings)) throw wrong(`expected ${expected} vectors, received no list of vectors`)
  if (embeddings.length !== expected) throw wrong(`expected ${expected} vectors, received ${embeddings.length} vectors`)
  return embeddings.map((embedding: unknown) => {
    if (embedding instanceof Float32Array) return embedding
    if (Array.isArray(embedding) && embedding.every((number) => typeof number === 'number')) return Float32Array.from(embedding)
    throw wrong('a vector is not a list of numbers')
  })
}
