/** A document store that passes every call on to another one. */

import type { AroundOptions, DocumentInput, DocumentStore, FoundChunks, SearchOptions, Surroundings } from '../core/store.ts'

export class ForwardingStore implements DocumentStore {
  readonly name: string
  readonly #target: () => DocumentStore

  /** @param target gives the store that does the work; called once for each call. */
  constructor(name: string, target: () => DocumentStore) {
    this.name = name
    this.#target = target
  }

  async append(document: DocumentInput): Promise<void> {
    await this.#target().append(document)
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    await this.#target().extend(documents)
  }

  async retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return await this.#target().retrieve(query, nResults)
  }

  async search(query: string, options?: SearchOptions): Promise<FoundChunks> {
    return await this.#target().search(query, options)
  }

  async around(id: string, options: AroundOptions): Promise<Surroundings | undefined> {
    return await this.#target().around?.(id, options)
  }

  async delete(source: string): Promise<boolean> {
    return await this.#target().delete(source)
  }

  async reset(): Promise<void> {
    await this.#target().reset()
  }

  async close(): Promise<void> {
    await this.#target().close()
  }
}
