/** Makes embedding models from names, and from AI SDK models that a user brings. */

import type { EmbeddingModel } from '../../core/embedding.ts'
import { ConfigurationError } from '../../core/error.ts'
import { namesOf, unknownOption } from '../../util/nearest.ts'
import { CONNECTION_OPTIONS, errorContext, requireKey, targetOf } from '../connection.ts'
import type { ConnectionOptions } from '../connection.ts'
import { definitionOf, isProvider, PROVIDER_NAMES } from '../registry.ts'
import { createEmbeddingAdapter, fromEmbeddingModel, isEmbeddingModel } from './adapter.ts'
import type { AiSdkEmbeddingModel } from './adapter.ts'
import { createLocalEmbeddingModel } from './local.ts'

export type { AiSdkEmbeddingModel }

/** Options of `createEmbeddingModel()`. */
export interface EmbeddingOptions extends ConnectionOptions {
  /** Asks for vectors of this length, where the model lets one choose. Part of what a store compares. */
  readonly dimensions?: number
  /** Texts in one request at most, where the provider takes fewer than it says. */
  readonly maxBatch?: number
  /** Tokens that the model reads of a text, where the caller knows: what is longer is cut before it is sent. */
  readonly maxTokens?: number
}

const OPTIONS = namesOf<EmbeddingOptions>({
  ...CONNECTION_OPTIONS,
  dimensions: true,
  maxBatch: true,
  maxTokens: true,
})

const LOCAL = 'local'

/**
 * The embedding model with this name, or an AI SDK embedding model as one of ours. Nothing is loaded and nothing is sent before its
 * first use.
 *
 * @param model `openai/…`, `google/…`, `ollama/…`, `openai-compatible/…`, `local/…` (needs `@huggingface/transformers`), or any AI SDK
 *   embedding model.
 * @throws ConfigurationError when there is no such provider, it has no embeddings, or nobody said where it is.
 */
export function createEmbeddingModel(model: string | AiSdkEmbeddingModel, options: EmbeddingOptions = {}): EmbeddingModel {
  if (typeof model !== 'string') return foreign(model)
  const wrong = unknownOption(options, OPTIONS)
  if (wrong !== undefined) throw new ConfigurationError(`createEmbeddingModel() has ${wrong.problem}`, wrong)
  const slash = model.indexOf('/')
  const [provider, name] = [model.slice(0, slash), model.slice(slash + 1)]
  if (slash < 1 || name === '') {
    throw new ConfigurationError(
      `An embedding model is named provider/model, like openai/text-embedding-3-small, but this is ${JSON.stringify(model)}.`,
    )
  }
  if (provider === LOCAL) return createLocalEmbeddingModel(name)
  const embedding = isProvider(provider) ? definitionOf(provider).embedding : undefined
  if (embedding === undefined) throw noEmbeddings(provider)
  const target = targetOf(provider, options)
  const { dimensions, maxTokens, maxBatch = embedding.maxBatch } = options
  return createEmbeddingAdapter({
    ref: model,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(maxBatch === undefined ? {} : { maxBatch }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    errors: errorContext(target),
    async request(texts, purpose, signal) {
      requireKey(provider, target.baseURL, options)
      const { requestVectors } = await import('./wire.ts')
      return requestVectors(target, embedding, { model: name, texts, dimensions, purpose }, signal)
    },
  })
}

function foreign(model: AiSdkEmbeddingModel): EmbeddingModel {
  if (isEmbeddingModel(model)) return fromEmbeddingModel(model)
  throw new ConfigurationError(
    'An embedding model must be a name like openai/text-embedding-3-small or an AI SDK embedding model.',
  )
}

function noEmbeddings(provider: string): ConfigurationError {
  const able = PROVIDER_NAMES.filter((name) => definitionOf(name).embedding !== undefined)
  const known = isProvider(provider)
    ? `${provider} has no embedding models.`
    : `There is no provider ${JSON.stringify(provider)}.`
  return new ConfigurationError(`${known} Those with embedding models are ${[...able, LOCAL].join(', ')}.`)
}
