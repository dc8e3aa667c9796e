/** Documents in this process, gone with it. */

import type { EmbeddingModel } from '../core/embedding.ts'
import { namesOf } from '../util/nearest.ts'
import { checkChunkOptions } from './chunk/chunk-document.ts'
import type { ChunkOptions } from './chunk/chunk-document.ts'
import { ForwardingStore } from './forwarding-store.ts'
import { checkOptionNames } from './options.ts'
import { SqliteDocumentStore } from './sqlite.ts'

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
export class MemoryDocumentStore extends ForwardingStore {
  constructor(options: MemoryDocumentStoreOptions = {}) {
    checkOptionNames('MemoryDocumentStore', options, OPTIONS)
    checkChunkOptions(options.chunk ?? {})
    const { name = 'memory' } = options
    let opened: SqliteDocumentStore | undefined
    super(name, () => (opened ??= SqliteDocumentStore.openSync({ ...options, name, path: ':memory:' })))
  }
}
