/** Types the messages between a searching thread and its caller. Everything here is copied from thread to thread. */

import type { ErrorInfo } from '../../core/error.ts'
import type { ScoredChunk, SearchOptions, StoreNotice } from '../../core/store.ts'
import type { QueryVector } from '../sqlite/nearest.ts'

/** Ends the thread, when what it works on is done. */
export const END = 'end'

/** The store that a thread reads, given to it when it starts. */
export interface StoreFile {
  readonly path: string
  readonly name: string
}

/** What makes questions vectors, in the thread that asks. */
export interface QueryEmbedder {
  /** It has a model. */
  readonly embedsQueries: boolean
  embedQuery(query: string, signal?: AbortSignal): Promise<EmbeddedQuery>
}

/** A question as a vector, or why there is none. */
export interface EmbeddedQuery {
  /** Absent: words alone are searched for. */
  readonly vector?: QueryVector
  /** Why there is none, where that is worth saying. */
  readonly notice?: StoreNotice
}

export interface SearchRequest extends Pick<SearchOptions, 'limit' | 'filter'> {
  readonly query: string
  /** The question for stores with vectors, made by the thread that asks: it has the model. */
  readonly vector?: QueryVector
}

/** One for each request, in the order of the requests. */
export type SearchAnswer = { readonly chunks: ScoredChunk[] } | { readonly error: ErrorInfo }
