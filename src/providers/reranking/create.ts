/** Any AI SDK reranking model becomes one of ours. */

import type { RerankingModelV4 } from '@ai-sdk/provider'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Ranking, RerankingModel, RerankOptions } from '../../core/reranking.ts'
import type { ErrorContext } from '../errors/errors.ts'
import { requestOnce } from '../request-once.ts'

/** What versions 3 and 4 have in common. */
export interface AiSdkRerankingModel {
  readonly specificationVersion: string
  /** For example `cohere.reranking`. */
  readonly provider: string
  readonly modelId: string
  doRerank(options: never): PromiseLike<unknown>
}

/**
 * An AI SDK reranking model as one of ours, such as `cohere.rerankingModel('rerank-v3.5')` of `@ai-sdk/cohere`; one of ours is returned
 * as it is. Nothing is sent before its first use.
 *
 * @throws ConfigurationError for anything else.
 */
export function createRerankingModel(model: AiSdkRerankingModel | RerankingModel): RerankingModel {
  if (isOurs(model)) return model
  if (!isAiSdk(model)) {
    throw new ConfigurationError(
      'A reranking model must be an AI SDK reranking model, or an object with `ref` and `rerank`; there are no names for them.',
    )
  }
  const provider = model.provider.split('.', 1)[0] ?? model.provider
  const ref = `${provider}/${model.modelId}`
  return { ref, rerank: (query, texts, options) => ask(model, { provider, ref, secrets: [] }, query, texts, options) }
}

function ask(
  model: AiSdkRerankingModel,
  errors: ErrorContext,
  query: string,
  texts: readonly string[],
  { limit, signal }: RerankOptions,
): Promise<Ranking> {
  return requestOnce(errors, signal, async (abortSignal) => {
    const { ranking, response } = await (model as unknown as RerankingModelV4).doRerank({
      query: query.toWellFormed(),
      documents: { type: 'text', values: texts.map((text) => text.toWellFormed()) },
      topN: Math.min(limit, texts.length),
      abortSignal,
    })
    if (!Array.isArray(ranking)) throw new CriaError('invalid_response', `${errors.ref}: expected a ranking.`)
    return {
      ranking: ranking.map(({ index, relevanceScore }) => ({ index, score: relevanceScore })),
      ...(typeof response?.id === 'string' ? { responseId: response.id } : {}),
      ...(typeof response?.modelId === 'string' ? { model: response.modelId } : {}),
    }
  })
}

function isOurs(model: object | null | undefined): model is RerankingModel {
  const { ref, rerank } = (model ?? {}) as Partial<Record<keyof RerankingModel, unknown>>
  return typeof ref === 'string' && typeof rerank === 'function'
}

function isAiSdk(model: object | null | undefined): model is AiSdkRerankingModel {
  const { provider, modelId, doRerank } = (model ?? {}) as Partial<Record<keyof AiSdkRerankingModel, unknown>>
  return typeof provider === 'string' && typeof modelId === 'string' && typeof doRerank === 'function'
}
