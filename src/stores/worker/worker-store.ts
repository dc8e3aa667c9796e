/** A document store that is searched in another thread, so that the event loop of this one stays free meanwhile. */

import type { AroundOptions, DocumentInput, DocumentStore, FoundChunks, SearchOptions, Surroundings } from '../../core/store.ts'
import type { SearchThread } from './search-thread.ts'

/** Writes to `store` itself, and asks `thread`, which reads the same file and finds at once what was written. */
export class WorkerStore implements DocumentStore {
  readonly name: string
  readonly #store: DocumentStore
  readonly #thread: SearchThread

  constructor(store: DocumentStore, thread: SearchThread) {
    this.name = store.name
    this.#store = store
    this.#thread = thread
  }

  append(document: DocumentInput): Promise<void> {
    return this.#store.append(document)
  }

  extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    return this.#store.extend(documents)
  }

  retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return this.#thread.search(query, { limit: nResults })
  }

  search(query: string, options?: SearchOptions): Promise<FoundChunks> {
    return this.#thread.search(query, options)
  }

  /** A few rows by their keys: not worth a way through the other thread. */
  async around(id: string, options: AroundOptions): Promise<Surroundings | undefined> {
    return await this.#store.around?.(id, options)
  }

  delete(source: string): Promise<boolean> {
    return this.#store.delete(source)
  }

  reset(): Promise<void> {
    return this.#store.reset()
  }

  /** Closes the store, and the thread with it. */
  close(): Promise<void> {
    return this.#store.close()
  }
}
