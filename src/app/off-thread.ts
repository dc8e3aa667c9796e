/** Moves searches of a store to another thread where that is possible. */

import type { DocumentSource } from '../core/store.ts'
import { SqliteDocumentStore } from '../stores/lazy.ts'
import { SearchThread, WorkerStore } from '../stores/worker/search-thread.ts'

/** One thread per store, shared by all bots. */
const readers = new WeakMap<DocumentSource, WorkerStore>()

/**
 * Returns the same store, searched in a thread that opens its file a second time and ends when the store is closed. Returns a store without a
 * file, or of another class than `SqliteDocumentStore`, unchanged.
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

/** False for a store with a `retrieve` of its own: the caller expects that to be called. */
function isReadByPath(store: DocumentSource): store is SqliteDocumentStore {
  return store instanceof SqliteDocumentStore && !Object.hasOwn(store, 'retrieve') && store.path !== ':memory:'
}
