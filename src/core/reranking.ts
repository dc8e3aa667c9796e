/** The port to reranking models, which order passages by how well they answer a question. */

export interface RerankOptions {
  /** Number of best texts to return. */
  readonly limit: number
  /** Aborts the request. */
  readonly signal: AbortSignal
}

/** The result of a reranking request. */
export interface Ranking {
  /** Best first; `index` is the position in the list of texts. */
  readonly ranking: readonly { readonly index: number; readonly score: number }[]
  /** The provider's id of its answer; absent if it reports none. */
  readonly responseId?: string
  /** The model that answered, as reported by the provider. */
  readonly model?: string
}

/** A reranking model. One call is one request, without retry or cache. */
export interface RerankingModel {
  /** `provider/model`. */
  readonly ref: string
  /** Ranks texts by relevance to `query`. @throws CriaError; anything else thrown counts as a failure, too. */
  rerank(query: string, texts: readonly string[], options: RerankOptions): Promise<Ranking>
}
