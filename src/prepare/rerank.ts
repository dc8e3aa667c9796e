/** Reorders the chunks that a store found, with a model that reads question and passage together. */

import { ATTRIBUTE, inSpan } from '../core/span.ts'
import type { Clock } from '../core/clock.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import type { Ranking, RerankingModel } from '../core/retrieval-models.ts'
import type { Span } from '../core/span.ts'
import type { ScoredChunk, StoreNotice } from '../core/store.ts'
import { orAborted } from '../util/promise.ts'

/** Options for reranking the found chunks with a model. */
export interface RerankChoice {
  /** Ranks passages against the question. */
  readonly model: RerankingModel
  /** Number of chunks of the document store to rerank; at least `nResults`. Default 50. */
  readonly candidates?: number
  /** Milliseconds after which the order of the store is kept; default 10,000. */
  readonly timeout?: number
}

export const DEFAULT_CANDIDATES = 50
const DEFAULT_TIMEOUT = 10_000

export interface Reranked {
  readonly chunks: readonly ScoredChunk[]
  /** Set if reranking failed and the order is that of the store. */
  readonly notice?: StoreNotice
}

/**
 * Returns the `limit` best chunks with the model's scores; chunks that the model does not rank follow in their old order. Evidence is kept.
 * If the model fails, the order is unchanged and a notice is returned.
 *
 * @throws the signal's reason if it is aborted.
 */
export async function rerank(
  query: string,
  chunks: readonly ScoredChunk[],
  limit: number,
  { model, timeout = DEFAULT_TIMEOUT }: RerankChoice,
  { span, signal, clock }: { readonly span: Span; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Reranked> {
  if (chunks.length < 2) return { chunks: chunks.slice(0, limit) }
  const attributes = { [ATTRIBUTE.operation]: 'rerank', [ATTRIBUTE.model]: model.ref, [ATTRIBUTE.candidates]: chunks.length }
  const over = new AbortController()
  const both = AbortSignal.any([signal, over.signal])
  try {
    return await inSpan(span, 'rerank', attributes, async (own) => {
      const late = clock.sleep(timeout, both).then(
        () => over.abort(new CriaError('timeout', `there was no answer within ${timeout} ms.`)),
        () => {},
      )
      void late
      const texts = chunks.map(textOf)
      const answered = await orAborted(Promise.resolve(model.rerank(query, texts, { limit, signal: both })), both)
      const ordered = inOrder(chunks, answered)
      own.set({
        [ATTRIBUTE.documentsRetrieved]: Math.min(limit, ordered.length),
        ...(answered.responseId === undefined ? {} : { [ATTRIBUTE.responseId]: answered.responseId }),
        ...(answered.model === undefined ? {} : { [ATTRIBUTE.responseModel]: answered.model }),
      })
      return { chunks: ordered.slice(0, limit) }
    })
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    const { message } = toCriaError(thrown)
    const notice = {
      code: 'rerank_failed',
      message: `${model.ref} did not rank the passages, their order is that of the store: ${message}`,
    }
    return { chunks: chunks.slice(0, limit), notice }
  } finally {
    over.abort()
  }
}

/** Returns the text with title and headings, which often name the topic of a passage. */
function textOf({ title, headings = [], text }: ScoredChunk): string {
  const above = [title, ...headings].filter((part) => part !== undefined && part !== '').join(' > ')
  return above === '' ? text : `${above}\n${text}`
}

/** @throws CriaError `invalid_response` if the answer is not a ranking of these chunks. */
function inOrder(chunks: readonly ScoredChunk[], { ranking }: Ranking): ScoredChunk[] {
  const left = new Set(chunks.keys())
  const named = ranking.length === 0 ? undefined : ranking.toSorted((a, b) => b.score - a.score)
  if (named?.every(({ index, score }) => left.delete(index) && Number.isFinite(score)) !== true) {
    throw new CriaError('invalid_response', `expected a score for passages 0 to ${chunks.length - 1}, each named once.`)
  }
  const least = named.at(-1)?.score ?? 0
  const order = [...named, ...[...left].map((index) => ({ index, score: least }))]
  return order.flatMap(({ index, score }) => {
    const chunk = chunks[index]
    return chunk === undefined ? [] : [{ ...chunk, score }]
  })
}
