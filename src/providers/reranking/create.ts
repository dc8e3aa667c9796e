/** Adapts AI SDK reranking models of versions 3 and 4. */

import type { RerankingModelV4 } from '@ai-sdk/provider'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Ranking, RerankingModel, RerankOptions } from '../../core/retrieval-models.ts'
import type { ErrorContext } from '../errors/errors.ts'
import { isSdkModel, sdkNames } from '../ai-sdk/language-model.ts'
import type { AiSdkNames } from '../ai-sdk/language-model.ts'
import { requestOnce } from '../adapter.ts'
import { defined } from '../../util/check.ts'

/** An AI SDK reranking model of version 3 or 4. */
export interface AiSdkRerankingModel extends AiSdkNames {
  /** Makes one request. */
  doRerank(options: never): PromiseLike<unknown>
}

/**
 * Adapts an AI SDK reranking model, such as `cohere.rerankingModel('rerank-v3.5')` of `@ai-sdk/cohere`. Returns a `RerankingModel`
 * unchanged. Sends nothing before its first use.
 *
 * @throws ConfigurationError for anything else.
 */
export function createRerankingModel(model: AiSdkRerankingModel | RerankingModel): RerankingModel {
  if (isOurs(model)) return model
  if (!isSdkModel(model, 'doRerank')) {
    throw new ConfigurationError(
      'A reranking model must be an AI SDK reranking model, or an object with `ref` and `rerank`. It cannot be named by a string.',
    )
  }
  const { provider, ref } = sdkNames(model)
  const errors: ErrorContext = { provider, ref, secrets: [] }
  return { ref, rerank: (query, texts, options) => ask(model as unknown as RerankingModelV4, errors, query, texts, options) }
}

function ask(
  model: RerankingModelV4,
  errors: ErrorContext,
  query: string,
  texts: readonly string[],
  { limit, signal }: RerankOptions,
): Promise<Ranking> {
  return requestOnce(errors, signal, async (abortSignal) => {
    const { ranking, response } = await model.doRerank({
      query: query.toWellFormed(),
      documents: { type: 'text', values: texts.map((text) => text.toWellFormed()) },
      topN: Math.min(limit, texts.length),
      abortSignal,
    })
    if (!Array.isArray(ranking)) throw new CriaError('invalid_response', `${errors.ref}: expected a ranking.`)
    const said = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
    return {
      ranking: ranking.map(({ index, relevanceScore }) => ({ index, score: relevanceScore })),
      ...defined({ responseId: said(response?.id), model: said(response?.modelId) }),
    }
  })
}

function isOurs(model: object | null | undefined): model is RerankingModel {
  const { ref, rerank } = (model ?? {}) as Partial<Record<keyof RerankingModel, unknown>>
  return typeof ref === 'string' && typeof rerank === 'function'
}
