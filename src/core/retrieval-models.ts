/** The ports to models that retrieval uses: embedding models turn texts into vectors, reranking models order passages by relevance. */

/** The use of a text; some models embed questions and documents differently. */
export type EmbeddingPurpose = 'document' | 'query'

/** Options of one call of an embedding model. */
export interface EmbedOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined
  /** Default `document`. */
  readonly purpose?: EmbeddingPurpose
}

/**
 * A model that turns texts into vectors, so that texts with similar meaning have vectors close to each other.
 *
 * Does not retry, split or cache: one call is one request, if the API allows it.
 */
export interface EmbeddingModel {
  /** `provider/model`. Equal refs produce comparable vectors; a store keeps the ref with its vectors. */
  readonly ref: string
  /** Length of its vectors, if known before the first call. */
  readonly dimensions?: number | undefined
  /** Maximum number of texts per call, if known. */
  readonly maxBatch?: number | undefined
  /** Maximum number of tokens per text, if known. */
  readonly maxTokens?: number | undefined
  /** `false`: calls must not overlap. Default true. */
  readonly parallel?: boolean | undefined
  /**
   * Returns one vector per text, in the same order; vectors need not be normalised.
   *
   * @param texts non-empty strings.
   * @throws CriaError; `retryable` says whether the same call may succeed later, `details.retryAfterMs` when.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}

/** Options of one reranking request. */
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
