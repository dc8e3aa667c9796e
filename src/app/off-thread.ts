/** Tells which stores can be searched in another thread. */

import type { DocumentSource } from '../core/store.ts'
import { SqliteDocumentStore } from '../stores/sqlite-store.ts'
import { SearchThread, WorkerStore } from '../stores/worker/search-thread.ts'

/** One thread for each store, however many bots ask it. */
const readers = new WeakMap<DocumentSource, WorkerStore>()

/**
 * The same store, searched in a thread that opens its file a second time and ends when the store is closed. A store without a file, and
 * any other store than `SqliteDocumentStore`, can only be asked where it is, and is returned as it came.
 */
export function offThread(store: DocumentSource): DocumentSource {
  if (!isReadByPath(store)) return store
  let reader = readers.get(store)
  if (reader === undefined) {
    const thread = new SearchThread(store)
    store.closeWith(thread)
    reader = new WorkerStore(store, thread)
    readers.set(store, reader)
  }
  return reader
}

/** A `retrieve` of its own means that the caller wants it to be called. */
function isReadByPath(store: DocumentSource): store is SqliteDocumentStore {
  return store instanceof SqliteDocumentStore && !Object.hasOwn(store, 'retrieve') && store.path !== ':memory:'
}
