/** Thread that searches: opens the file read-only with the first question, and answers one question after the other. */

import { parentPort, workerData } from 'node:worker_threads'
import { toCriaError } from '../../core/error.ts'
import type { ErrorInfo } from '../../core/error.ts'
import type { ScoredChunk, SearchOptions } from '../../core/store.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import type { QueryVector } from '../sqlite/nearest.ts'

/** The file that the thread reads, passed when it starts. */
export interface StoreFile {
  readonly path: string
  readonly name: string
}

/** Requests a search, or ends the thread when its current search is done. */
export type Request = SearchRequest | 'end'

export interface SearchRequest extends Pick<SearchOptions, 'limit' | 'filter'> {
  readonly query: string
  /** The vector of the question, made by the calling thread, which has the model. */
  readonly vector?: QueryVector
}

export type SearchAnswer = { readonly chunks: ScoredChunk[] } | { readonly error: ErrorInfo }

const { path, name } = workerData as StoreFile
let store: SqliteDocumentStore | undefined

async function answer({ query, vector, ...options }: SearchRequest): Promise<SearchAnswer> {
  try {
    store ??= SqliteDocumentStore.openSync({ path, name, readOnly: true })
    return { chunks: await store.searchWith(vector, query, options) }
  } catch (thrown) {
    return { error: toCriaError(thrown, 'store_failed').toJSON() }
  }
}

parentPort?.on('message', (request: Request) => {
  if (request === 'end') {
    void (store?.close() ?? Promise.resolve()).finally(() => parentPort?.close())
    return
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  void answer(request).then((answered) => parentPort?.postMessage(answered))
})
