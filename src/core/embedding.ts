/** The port to models that turn texts into vectors. */

/** The use of a text; some models place questions and documents differently. */
export type EmbeddingPurpose = 'document' | 'query'

/** Options of one call of an embedding model. */
export interface EmbedOptions {
  /** Aborting it ends the request. */
  readonly signal?: AbortSignal | undefined
  /** Default `document`. */
  readonly purpose?: EmbeddingPurpose
}

/**
 * A model that places texts in a space where what means the same lies close.
 *
 * No retry, no splitting, no cache inside: one call is one request, as far as the API behind it allows.
 */
export interface EmbeddingModel {
  /** `provider/model`; equal refs make comparable vectors. A store keeps it with the vectors. */
  readonly ref: string
  /** Length of its vectors, where it is known before the first one. */
  readonly dimensions?: number | undefined
  /** Texts that one call may have at most, where it is known. */
  readonly maxBatch?: number | undefined
  /** Tokens that one text may have at most, where it is known. */
  readonly maxTokens?: number | undefined
  /** `false`: calls have to come one after the other. Default true. */
  readonly parallel?: boolean | undefined
  /**
   * One vector for each text, in their order, of any length (norm).
   *
   * @param texts none of them empty.
   * @throws CriaError; `retryable` says whether the same call may succeed later, `details.retryAfterMs` when.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}
