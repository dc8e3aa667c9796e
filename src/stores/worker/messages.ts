/** What a thread that searches is asked, and what it answers. Everything here is copied from thread to thread. */

import type { ErrorInfo } from '../../core/error.ts'
import type { ScoredChunk, SearchOptions } from '../../core/store.ts'

/** The store that a thread reads, given to it when it starts. */
export interface StoreFile {
  readonly path: string
  readonly name: string
}

export interface SearchRequest extends Pick<SearchOptions, 'limit' | 'filter'> {
  readonly query: string
}

/** One for each request, in the order of the requests. */
export type SearchAnswer = { readonly chunks: ScoredChunk[] } | { readonly error: ErrorInfo }
