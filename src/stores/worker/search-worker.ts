/** The thread that searches: opens the file with the first question, to read only, and answers one question after the other. */

import { parentPort, workerData } from 'node:worker_threads'
import { toCriaError } from '../../core/error.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import { END } from './messages.ts'
import type { SearchAnswer, SearchRequest, StoreFile } from './messages.ts'

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

parentPort?.on('message', (request: SearchRequest | typeof END) => {
  if (request === END) {
    void (store?.close() ?? Promise.resolve()).finally(() => parentPort?.close())
    return
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  void answer(request).then((answered) => parentPort?.postMessage(answered))
})
