/**
 * The document stores as programs import them: their implementation is loaded when the first store is opened. A store without a file lives in memory
 * and ends with the process.
 */

import type { EmbeddingModel } from '../core/retrieval-models.ts'
import type { AroundOptions, DocumentInput, DocumentStore, FoundChunks, SearchOptions, Surroundings } from '../core/store.ts'
import { namesOf } from '../util/nearest.ts'
import { checkChunkOptions } from './chunk/chunk-document.ts'
import type { ChunkOptions } from './chunk/chunk-document.ts'
import { checkOptionNames } from './options.ts'
import type { SqliteDocumentStore as OpenedStore, SqliteDocumentStoreOptions } from './sqlite.ts'
import { isOpened } from './sqlite/opened.ts'

/** Options of `new MemoryDocumentStore()`. */
export interface MemoryDocumentStoreOptions {
  /** Shown in events and on the command line; default `memory`. */
  readonly name?: string
  /** Options for cutting documents into chunks. */
  readonly chunk?: ChunkOptions
  /** Also finds passages by meaning; see `SqliteDocumentStore`. */
  readonly embeddingModel?: EmbeddingModel
}

const OPTIONS = namesOf<MemoryDocumentStoreOptions>({ name: true, chunk: true, embeddingModel: true })

/** A document store that forwards every call to another store. */
export class ForwardingStore implements DocumentStore {
  readonly name: string
  readonly #target: () => DocumentStore | Promise<DocumentStore>

  /** @param target returns the store that does the work; called once for each call. */
  constructor(name: string, target: () => DocumentStore | Promise<DocumentStore>) {
    this.name = name
    this.#target = target
  }

  async append(document: DocumentInput): Promise<void> {
    await (await this.#target()).append(document)
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    await (await this.#target()).extend(documents)
  }

  async retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return await (await this.#target()).retrieve(query, nResults)
  }

  async search(query: string, options?: SearchOptions): Promise<FoundChunks> {
    return await (await this.#target()).search(query, options)
  }

  async around(id: string, options: AroundOptions): Promise<Surroundings | undefined> {
    return await (await this.#target()).around?.(id, options)
  }

  async delete(source: string): Promise<boolean> {
    return await (await this.#target()).delete(source)
  }

  async reset(): Promise<void> {
    await (await this.#target()).reset()
  }

  async close(): Promise<void> {
    await (await this.#target()).close()
  }
}

/**
 * A document store without a file: an in-memory `SqliteDocumentStore`, so that both return the same results. Opened on first use.
 */
export class MemoryDocumentStore extends ForwardingStore {
  constructor(options: MemoryDocumentStoreOptions = {}) {
    checkOptionNames('MemoryDocumentStore', options, OPTIONS)
    checkChunkOptions(options.chunk ?? {})
    const { name = 'memory' } = options
    let opened: Promise<OpenedStore> | undefined
    super(name, () => {
      opened ??= import('./sqlite.ts').then(({ SqliteDocumentStore: Store }) =>
        Store.openSync({ ...options, name, path: ':memory:' }),
      )
      return opened
    })
  }
}

/** An open document store in one file; see `SqliteDocumentStore.open()`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- only `open()` makes one, and it has all members
export interface SqliteDocumentStore extends OpenedStore {}

/**
 * A document store in one file.
 *
 * Several processes may use the file at once; each reads a consistent state, and writes in short transactions. A source is replaced atomically.
 * Reported writes survive a crash.
 */
export class SqliteDocumentStore {
  private constructor() {}

  /**
   * Opens a store, or creates it.
   *
   * @throws ConfigurationError for a folder, an empty file, a file of another application or of a newer version, a missing file that must not be
   * created, and vectors of another embedding model; CriaError `store_failed` when the disk fails or another process holds the lock.
   */
  static async open(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
    const { SqliteDocumentStore: Store } = await import('./sqlite.ts')
    return Store.open(options)
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return isOpened(value)
  }
}
