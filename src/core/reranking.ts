/** The port to models that put passages in order by how well they answer a question. */

export interface RerankOptions {
  /** The best so many are wanted. */
  readonly limit: number
  /** Aborting it ends the request. */
  readonly signal: AbortSignal
}

/** The places of documents in an order, best first. */
export interface Ranking {
  /** Best first; `index` is the place among the texts that were given. */
  readonly ranking: readonly { readonly index: number; readonly score: number }[]
  /** The provider's id of its answer; absent where it gives none. */
  readonly responseId?: string
  /** The model that the server says has answered. */
  readonly model?: string
}

/** One call is one request: no retry and no cache inside. */
export interface RerankingModel {
  /** `provider/model`. */
  readonly ref: string
  /** @throws CriaError, or anything, which counts as a failure. */
  rerank(query: string, texts: readonly string[], options: RerankOptions): Promise<Ranking>
}
