/** Keeps documents in one SQLite file and searches their text; needs no model and no server. */

import type { EmbeddingModel } from '../core/retrieval-models.ts'
import { ConfigurationError } from '../core/error.ts'
import type { CriaError } from '../core/error.ts'
import type {
  AroundOptions,
  Chunk,
  ChunkFilter,
  DocumentInput,
  DocumentStore,
  FoundChunks,
  ScoredChunk,
  SearchOptions,
  SourceDocument,
  Surroundings,
} from '../core/store.ts'
import type { Connection } from '../util/sqlite/connection.ts'
import { patiently, TRY_MS } from '../util/sqlite/patience.ts'
import { checkedSearch, givenDocuments } from './options.ts'
import { letsAnyThrough } from './sqlite/accepted.ts'
import { toDocument } from './sqlite/documents.ts'
import type { FileFacts, SourceState } from './sqlite/documents.ts'
import type { Embeddings, EmbedReport, EmbedRunOptions } from './sqlite/embeddings.ts'
import { checkEmbeddingModel, checkStoreOptions, openStoreFile, STORE_BUSY_MS } from './sqlite/file.ts'
import type { SqliteDocumentStoreOptions } from './sqlite/file.ts'
import type { EmbeddedQuery, QueryVector, VectorRanking } from './sqlite/nearest.ts'
import { noteOpened } from './sqlite/opened.ts'
import { Searcher } from './sqlite/search.ts'
import { readAround, readChunk, readDocument, readSource, readSources, readStats, sourcesWithHash } from './sqlite/sources.ts'
import type { StoreStats } from './sqlite/sources.ts'
import type { Outcome, PutResult } from './sqlite/write.ts'
import { embedders, isMadeBy, mismatch } from './sqlite/vectors.ts'
import { Writer } from './sqlite/writer.ts'
import type { FileDocument } from './sqlite/writer.ts'

export type {
  EmbedReport,
  EmbedRunOptions,
  FileDocument,
  FileFacts,
  Outcome,
  PutResult,
  QueryVector,
  SourceState,
  SqliteDocumentStoreOptions,
  StoreStats,
}

/** The vectors that a store holds. */
export interface HeldEmbeddings {
  /** The embedding model. */
  readonly model: string
  /** Numbers in each vector. */
  readonly dimensions: number
  /** Number of stored vectors. */
  readonly vectors: number
  /** True when the vectors can be searched; false until the first run has made them all. */
  readonly complete: boolean
}

/**
 * A document store in one file.
 *
 * Several processes may use the file at once; each reads a consistent state, and writes in short transactions. A source is replaced atomically.
 * Reported writes survive a crash.
 */
export class SqliteDocumentStore implements DocumentStore {
  readonly name: string
  readonly #connection: Connection
  readonly #writer: Writer
  readonly #searcher: Searcher
  readonly #readers: { close(): Promise<void> }[] = []
  #model: EmbeddingModel | undefined
  readonly #replace: boolean
  #embeddings: Promise<Embeddings> | undefined
  #ranking: Promise<VectorRanking> | undefined

  private constructor(connection: Connection, options: SqliteDocumentStoreOptions) {
    this.name = options.name ?? 'documents'
    this.#connection = connection
    this.#writer = new Writer(connection, { chunk: options.chunk ?? {}, synchronous: options.synchronous ?? 'normal' })
    this.#searcher = new Searcher(connection)
    this.#replace = options.replaceEmbeddings ?? false
    noteOpened(this)
  }

  /**
   * Opens a store, or creates it.
   *
   * @throws ConfigurationError for a folder, an empty file, a file of another application or of a newer version, a missing file that must not be
   * created, and vectors of another embedding model; CriaError `store_failed` when the disk fails or another process holds the lock.
   */
  static open(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
    // Waits for the lock of another process without blocking the event loop.
    return patiently(() => SqliteDocumentStore.#open(options, TRY_MS), performance.now() + STORE_BUSY_MS)
  }

  /** As `open`, synchronously; blocks while another process holds the lock. */
  static openSync(options: SqliteDocumentStoreOptions): SqliteDocumentStore {
    return SqliteDocumentStore.#open(options, STORE_BUSY_MS)
  }

  static #open(options: SqliteDocumentStoreOptions, busyTimeoutMs: number): SqliteDocumentStore {
    checkStoreOptions(options)
    const { path, readOnly = false, synchronous = 'normal' } = options
    const connection = openStoreFile({ path, readOnly, synchronous, busyTimeoutMs })
    try {
      const store = new SqliteDocumentStore(connection, options)
      if (!readOnly) store.#writer.bringUpToDate()
      store.#model = store.#modelFor(options.embeddingModel)
      // Also for `openSync`: later writes wait for a lock without blocking the event loop.
      connection.execute(`PRAGMA busy_timeout = ${TRY_MS}`)
      return store
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Path of the file; `:memory:` for a store without a file. */
  get path(): string {
    return this.#connection.path
  }

  async append(document: DocumentInput): Promise<void> {
    await this.#writer.put([{ document: toDocument(document), file: {} }])
    await this.#embedIfAble()
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    const failed: CriaError[] = []
    for await (const result of this.putAll(asFiles(givenDocuments(documents)))) {
      if (result.outcome === 'failed') failed.push(result.error)
    }
    await this.#embedIfAble()
    if (failed[0] !== undefined) throw failed[0]
  }

  /** Replaces or adds the document of a source, in one transaction. */
  async put(document: SourceDocument, file: FileFacts = {}): Promise<Outcome> {
    const [outcome = 'unchanged'] = await this.#writer.put([{ document: toDocument(document), file }])
    await this.#embedIfAble()
    return outcome
  }

  /**
   * As `put` for many, in batches of one transaction each; yields each result as soon as it is stored. A document that is too large for the
   * available memory has the outcome `failed`, and the others continue. Makes no vectors: see `embed`.
   *
   * @param signal stops also within a large document, of which nothing is stored then.
   * @param onProgress receives the indexed share of a large document, 0 to 1.
   */
  putAll(
    documents: Iterable<FileDocument> | AsyncIterable<FileDocument>,
    signal?: AbortSignal,
    onProgress?: (share: number) => void,
  ): AsyncGenerator<PutResult> {
    return this.#writer.putAll(documents, signal, onProgress)
  }

  retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return this.search(query, { limit: nResults })
  }

  async search(query: string, options: SearchOptions = {}): Promise<FoundChunks> {
    if (this.#model === undefined) return this.searchWith(undefined, query, options)
    const { signal } = checkedSearch(query, options)
    const { vector, notice } = await this.embedQuery(query, signal)
    const found = await this.searchWith(vector, query, options)
    return notice === undefined ? found : Object.assign(found, { notice })
  }

  /** As `search`, for a question that was embedded elsewhere; without a vector, searches by words alone. */
  async searchWith(vector: QueryVector | undefined, query: string, options: SearchOptions = {}): Promise<ScoredChunk[]> {
    const { limit, filter } = checkedSearch(query, options)
    if (!this.canBeSearched)
      throw new ConfigurationError(
        `${this.path} was indexed by another version of cria. Open it once for writing, which indexes it again.`,
      )
    if (vector === undefined) return this.#connection.snapshot(() => this.#searcher.search(query, limit, filter))
    this.#ranking ??= import('./sqlite/nearest.ts').then(({ VectorRanking }) => new VectorRanking(this.#connection))
    const ranking = await this.#ranking
    return this.#connection.snapshot(() =>
      this.#searcher.search(query, limit, filter, (corpus, found) => ranking.rank(corpus, found, vector, filter)),
    )
  }

  /**
   * Embeds a question for a search elsewhere. Without a vector, a notice may give the reason.
   *
   * @throws ConfigurationError when the stored vectors were made by another model.
   */
  async embedQuery(query: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    checkedSearch(query, {})
    if (this.#model === undefined || !this.#searcher.hasWords(query)) return {}
    const embeddings = await this.#loadEmbeddings(this.#model)
    return await embeddings.query(query, signal)
  }

  /** False for a store that was opened read-only and was indexed by another version of cria; its documents can be read. */
  get canBeSearched(): boolean {
    return !this.#connection.readOnly || this.#writer.isCurrent
  }

  /** True if the store has a model that embeds questions. */
  get embedsQueries(): boolean {
    return this.#model !== undefined
  }

  /** Describes the stored vectors and their model; `undefined` without vectors. */
  get embeddings(): HeldEmbeddings | undefined {
    const [held] = embedders(this.#connection)
    if (held === undefined) return undefined
    const { n = 0 } = this.#connection.get<{ n: number }>('SELECT count(*) AS n FROM vectors WHERE embedder = ?', [held.id]) ?? {}
    return { model: held.model, dimensions: held.dimensions, vectors: n, complete: held.isCurrent }
  }

  /**
   * Makes the missing vectors: after `putAll`, after a stopped run, or all of them when the model was replaced. Finished vectors are kept, and the
   * next run continues; the store can be searched meanwhile.
   *
   * @throws ConfigurationError without an embedding model, or when the vectors are of another model; CriaError when the model fails permanently.
   */
  async embed(options: EmbedRunOptions = {}): Promise<EmbedReport> {
    if (this.#model === undefined) throw new ConfigurationError('The store was opened without an embedding model.')
    const embeddings = await this.#loadEmbeddings(this.#model)
    return await this.#writer.alone(() => embeddings.run(options), options.signal)
  }

  async delete(source: string): Promise<boolean> {
    const [wasThere = false] = await this.#writer.remove([source])
    return wasThere
  }

  /** Removes several sources in one transaction; returns for each whether it existed. */
  deleteAll(sources: readonly string[]): Promise<boolean[]> {
    return this.#writer.remove(sources)
  }

  /** Renames a source and keeps its vectors. Returns false when it does not exist, or the new name is taken. */
  move(from: string, to: string, file?: FileFacts): Promise<boolean> {
    return this.#writer.move(from, to, file)
  }

  reset(): Promise<void> {
    return this.#writer.removeAll()
  }

  close(): Promise<void> {
    return this.#writer.alone(async () => {
      for (const reader of this.#readers.splice(0)) await reader.close()
      this.#connection.close()
    })
  }

  /** Closes `reader` before this store closes, or at once when the store is already closed. */
  closeWith(reader: { close(): Promise<void> }): void {
    this.#readers.push(reader)
    if (!this.#connection.isOpen) void this.close()
  }

  /** Returns the facts kept of a source. */
  async getSource(source: string): Promise<SourceState | undefined> {
    return readSource(this.#connection, source)
  }

  /** All sources, by name. Concurrent writes may or may not be included. */
  sources(): Generator<SourceState> {
    return readSources(this.#connection)
  }

  /** Returns the sources whose files had these bytes: the earlier places of a moved file. */
  async sourcesWithHash(fileHash: string): Promise<SourceState[]> {
    return sourcesWithHash(this.#connection, fileHash)
  }

  /** Returns the document as given, with its whole text. */
  async getDocument(source: string): Promise<SourceDocument | undefined> {
    return this.#connection.snapshot(() => readDocument(this.#connection, source))
  }

  /** Returns a chunk by its id; `undefined` when it does not exist. */
  async getChunk(id: string): Promise<Chunk | undefined> {
    return readChunk(this.#connection, id)
  }

  /** Reports whether any chunk passes a filter; if none does, every search with the filter is empty. */
  async holdsAny(filter: ChunkFilter): Promise<boolean> {
    return letsAnyThrough(this.#connection, filter)
  }

  async around(id: string, { chunks, signal }: AroundOptions): Promise<Surroundings | undefined> {
    signal?.throwIfAborted()
    return this.#connection.snapshot(() => readAround(this.#connection, id, Math.max(0, Math.floor(chunks))))
  }

  /** Counts the contents of the store. */
  async stats(): Promise<StoreStats> {
    return this.#connection.snapshot(() => readStats(this.#connection))
  }

  async #embedIfAble(): Promise<void> {
    if (this.#model !== undefined) await this.embed()
  }

  #loadEmbeddings(model: EmbeddingModel): Promise<Embeddings> {
    this.#embeddings ??= import('./sqlite/embeddings.ts').then(
      ({ Embeddings }) =>
        new Embeddings(this.#connection, model, {
          store: this.name,
          replace: this.#replace,
          alone: (work, signal) => this.#writer.alone(work, signal),
        }),
    )
    return this.#embeddings
  }

  /** @throws ConfigurationError when the store holds vectors of another model. */
  #modelFor(given: SqliteDocumentStoreOptions['embeddingModel']): EmbeddingModel | undefined {
    if (given === undefined) return undefined
    const [held] = embedders(this.#connection)
    if (typeof given === 'function') return held === undefined ? undefined : given(held.model)
    checkEmbeddingModel(given)
    if (held === undefined || this.#replace || isMadeBy(held, given)) return given
    throw mismatch(`they were made by ${held.model} with ${held.dimensions} numbers.`, held, given, this.name)
  }
}

async function* asFiles(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): AsyncGenerator<FileDocument> {
  for await (const document of documents) yield { document: toDocument(document) }
}
