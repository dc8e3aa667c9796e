/** Documents in this process, gone with it. */

import type { EmbeddingModel } from '../core/embedding.ts'
import type { AroundOptions, DocumentInput, DocumentStore, FoundChunks, SearchOptions, Surroundings } from '../core/store.ts'
import { checkChunkOptions } from './chunk/chunk-document.ts'
import type { ChunkOptions } from './chunk/chunk-document.ts'
import { checkOptionNames } from './option-names.ts'
import type { SqliteDocumentStore } from './sqlite.ts'
import { namesOf } from '../util/nearest.ts'

/** Options of `new MemoryDocumentStore()`. */
export interface MemoryDocumentStoreOptions {
  /** Shown in events and on the command line; default `memory`. */
  readonly name?: string
  /** How documents are cut. */
  readonly chunk?: ChunkOptions
  /** Finds passages by what they mean as well; see `SqliteDocumentStore`. */
  readonly embeddingModel?: EmbeddingModel
}

const OPTIONS = namesOf<MemoryDocumentStoreOptions>({ name: true, chunk: true, embeddingModel: true })

/**
 * A document store without a file: a `SqliteDocumentStore` that keeps its pages in memory, so that both find the same for ever. Opened
 * on first use.
 */
export class MemoryDocumentStore implements DocumentStore {
  readonly name: string
  readonly #options: MemoryDocumentStoreOptions
  #opened: Promise<SqliteDocumentStore> | undefined

  constructor(options: MemoryDocumentStoreOptions = {}) {
    checkOptionNames('MemoryDocumentStore', options, OPTIONS)
    checkChunkOptions(options.chunk ?? {})
    this.name = options.name ?? 'memory'
    this.#options = options
  }

  async append(document: DocumentInput): Promise<void> {
    await (await this.#store()).append(document)
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    await (await this.#store()).extend(documents)
  }

  async retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return await (await this.#store()).retrieve(query, nResults)
  }

  async search(query: string, options?: SearchOptions): Promise<FoundChunks> {
    return await (await this.#store()).search(query, options)
  }

  async around(id: string, options: AroundOptions): Promise<Surroundings | undefined> {
    return await (await this.#store()).around(id, options)
  }

  async delete(source: string): Promise<boolean> {
    return await (await this.#store()).delete(source)
  }

  async reset(): Promise<void> {
    await (await this.#store()).reset()
  }

  async close(): Promise<void> {
    await (await this.#store()).close()
  }

  #store(): Promise<SqliteDocumentStore> {
    this.#opened ??= import('./sqlite.ts').then(({ SqliteDocumentStore }) =>
      SqliteDocumentStore.openSync({ ...this.#options, name: this.name, path: ':memory:' }),
    )
    return this.#opened
  }
}
