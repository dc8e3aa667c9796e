/** Documents in one SQLite file, found by what they say; no model, no server. */

import { setImmediate } from 'node:timers/promises'
import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/filter.ts'
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
  StoreNotice,
  Surroundings,
} from '../core/store.ts'
import type { EmbeddingModel } from '../core/embedding.ts'
import { ANALYZER_VERSION, Analyzer } from './analyze/analyzer.ts'
import { checkChunkOptions, CHUNKER_VERSION, chunkDocument } from './chunk/chunk-document.ts'
import type { ChunkOptions } from './chunk/chunk-document.ts'
import { givenDocuments } from './given-documents.ts'
import { letsAnyThrough } from './sqlite/accepted.ts'
import { readAround } from './sqlite/around.ts'
import { describe } from '../util/check.ts'
import type { Connection } from '../util/sqlite/connection.ts'
import { CorpusCache } from './sqlite/corpus.ts'
import { CHUNK_COLUMNS, readDocument, SOURCE_COLUMNS, stateOf, toChunk, toDocument } from './sqlite/documents.ts'
import type { ChunkRow, FileFacts, SourceRow, SourceState } from './sqlite/documents.ts'
import { readFact, writeFact } from './sqlite/facts.ts'
import { embedders, isMadeBy, mismatch } from './sqlite/embedders.ts'
import type { Embeddings, EmbedReport, EmbedRunOptions } from './sqlite/embeddings.ts'
import { openStoreFile } from './sqlite/file.ts'
import { IndexWriter } from './sqlite/index-writer.ts'
import type { QueryVector, VectorRanking } from './sqlite/nearest.ts'
import { Searcher } from './sqlite/search.ts'
import { giveVectors, vectorsOfSource } from './sqlite/vectors.ts'
import { indexAgain, putDocuments, removeAll, removeSources } from './sqlite/write.ts'
import type { Addition, Outcome } from './sqlite/write.ts'
import { TEXT_RULE } from './vectors/text.ts'
import type { EmbeddedQuery } from './worker/messages.ts'
import { checkOptionNames } from './option-names.ts'
import { namesOf } from '../util/nearest.ts'

export type { EmbedReport, EmbedRunOptions, FileFacts, Outcome, QueryVector, SourceState }

export interface SqliteDocumentStoreOptions {
  /** The file; made when it is missing. `:memory:` keeps everything in this process. */
  readonly path: string
  /** Shown in events and on the command line; default `documents`. */
  readonly name?: string
  /** Default false. */
  readonly readOnly?: boolean
  /** How documents are cut. */
  readonly chunk?: ChunkOptions
  /**
   * Finds passages by what they mean as well: `append`, `extend` and `put` make their vectors, `search` asks it about each question. Or a function
   * that is given the model which the store holds vectors of, and is not called where it holds none. Without it the store searches words.
   */
  readonly embeddingModel?: EmbeddingModel | ((held: string) => EmbeddingModel | undefined)
  /** Opens although the store holds vectors of another model; `embed` then makes them again. Default false. */
  readonly replaceEmbeddings?: boolean
  /** `full` also survives a loss of power between two transactions, and is slower; default `normal`. */
  readonly synchronous?: 'normal' | 'full'
}

export interface StoreStats {
  readonly sources: number
  readonly chunks: number
  readonly terms: number
  /** Size of the file. */
  readonly bytes: number
}

/** The vectors that a store holds. */
export interface HeldEmbeddings {
  readonly model: string
  readonly dimensions: number
  readonly vectors: number
  /** They can be searched; false while they are made for the first time. */
  readonly complete: boolean
}

/** Something else that has the file open. */
interface Reader {
  close(): Promise<void>
}

/** A document and what is known of its file. */
export interface FileDocument {
  readonly document: SourceDocument
  readonly file?: FileFacts
}

const DEFAULT_LIMIT = 10
const MEMORY = ':memory:'
/** Documents that are written in one transaction: enough to be fast, few enough that other writers do not wait long. */
const BATCH_DOCUMENTS = 1024
const BATCH_CHARS = 2_000_000
/** Documents that are longer are put by a thread: the event loop stays free, and it can be stopped. */
const LARGE_CHARS = 1_000_000
/** A source of documents that is slow must not keep back for long what it gave already. */
const BATCH_MS = 200

/**
 * A document store in one file.
 *
 * Several processes may use the file at once; each reads a consistent state, and writes in short transactions. A source is replaced as a
 * whole or not at all. After a crash everything is there that was reported as written.
 */
export class SqliteDocumentStore implements DocumentStore {
  readonly name: string
  readonly #connection: Connection
  readonly #index: IndexWriter
  readonly #searcher: Searcher
  readonly #chunk: ChunkOptions
  readonly #recipe: string
  readonly #synchronous: 'normal' | 'full'
  /** A thread is writing; whatever writes next waits for its end, in a loop of its own: nobody may begin between the end and the next look. */
  #apart: Promise<void> | undefined
  readonly #readers: Reader[] = []
  #model: EmbeddingModel | undefined
  readonly #replace: boolean
  #vectors: Promise<Vectors> | undefined
  #ranking: Promise<VectorRanking> | undefined

  private constructor(connection: Connection, options: SqliteDocumentStoreOptions) {
    const analyzer = new Analyzer()
    this.name = options.name ?? 'documents'
    this.#connection = connection
    this.#index = new IndexWriter(connection, analyzer)
    this.#searcher = new Searcher(connection, analyzer, new CorpusCache())
    this.#chunk = options.chunk ?? {}
    this.#recipe = JSON.stringify([CHUNKER_VERSION, this.#chunk])
    this.#synchronous = options.synchronous ?? 'normal'
    this.#replace = options.replaceEmbeddings ?? false
  }

  /**
   * Opens a store, or makes it.
   *
   * @throws ConfigurationError when the path is a folder, an empty file, a file of another application or of a newer version, or is
   * missing and may not be made, and when the store holds vectors of another embedding model; CriaError `store_failed` when the disk or another process refuses.
   */
  static open(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
    return promised(() => SqliteDocumentStore.openSync(options))
  }

  /** As `open`, at once. */
  static openSync(options: SqliteDocumentStoreOptions): SqliteDocumentStore {
    // Called from JavaScript there may be nothing, or only the path.
    if (typeof options?.path !== 'string' || options.path === '') {
      throw new ConfigurationError('A document store needs the path of its file: SqliteDocumentStore.open({ path }).')
    }
    const { path, readOnly = false, synchronous = 'normal' } = options
    checkOptionNames('A document store', options, OPTIONS, { file: 'path', chunkSize: 'chunk: { maxChars }' })
    checkChunkOptions(options.chunk ?? {})
    if (synchronous !== 'normal' && synchronous !== 'full')
      throw new ConfigurationError(`\`synchronous\` must be normal or full, but is ${JSON.stringify(synchronous)}.`)
    const connection = openStoreFile({ path, readOnly, synchronous })
    try {
      const store = new SqliteDocumentStore(connection, options)
      store.#bringUpToDate()
      store.#model = store.#modelFor(options.embeddingModel)
      return store
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Where its file is; `:memory:` when it has none. */
  get path(): string {
    return this.#connection.path
  }

  async append(document: DocumentInput): Promise<void> {
    await this.#putSoon([{ document: toDocument(document), file: {} }])
    await this.#embedIfAble()
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    for await (const _ of this.putAll(asFiles(givenDocuments(documents))));
    await this.#embedIfAble()
  }

  /** Puts one document in place of the one with the same source, in one transaction. */
  async put(document: SourceDocument, file: FileFacts = {}): Promise<Outcome> {
    const [outcome = 'unchanged'] = await this.#putSoon([{ document: toDocument(document), file }])
    await this.#embedIfAble()
    return outcome
  }

  /**
   * As `put` for many, some in one transaction; yields what became of each as soon as it is stored. Makes no vectors: see `embed`.
   *
   * @param signal stops it also in the middle of a large document, of which nothing is stored then.
   */
  async *putAll(
    documents: Iterable<FileDocument> | AsyncIterable<FileDocument>,
    signal?: AbortSignal,
  ): AsyncGenerator<{ readonly source: string; readonly outcome: Outcome }> {
    let batch: Addition[] = []
    let chars = 0
    let began = performance.now()
    for await (const { document, file = {} } of documents) {
      if (batch.length === 0) began = performance.now()
      const addition = { document: toDocument(document), file }
      batch.push(addition)
      chars += addition.document.text.length
      if (batch.length < BATCH_DOCUMENTS && chars < BATCH_CHARS && performance.now() - began < BATCH_MS) continue
      yield* this.#outcomes(batch, signal)
      batch = []
      chars = 0
      await setImmediate()
    }
    yield* this.#outcomes(batch, signal)
  }

  retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return this.search(query, { limit: nResults })
  }

  async search(query: string, options: SearchOptions = {}): Promise<FoundChunks> {
    const { limit, filter, signal } = checkedSearch(query, options)
    if (this.#model === undefined) return this.#searchWords(query, limit, filter)
    const { vector, notice } = await this.embedQuery(query, signal)
    const found = await this.searchWith(vector, query, options)
    return notice === undefined ? found : Object.assign(found, { notice })
  }

  /** As `search`, for a question that has been made a vector elsewhere; words alone without one. */
  async searchWith(vector: QueryVector | undefined, query: string, options: SearchOptions = {}): Promise<ScoredChunk[]> {
    const { limit, filter } = checkedSearch(query, options)
    if (vector === undefined) return this.#searchWords(query, limit, filter)
    this.#ranking ??= import('./sqlite/nearest.ts').then(({ VectorRanking }) => new VectorRanking(this.#connection))
    const ranking = await this.#ranking
    return this.#connection.snapshot(() =>
      this.#searcher.search(query, limit, filter, (corpus, found) => ranking.rank(corpus, found, vector, filter)),
    )
  }

  /**
   * A question as a vector, for searching elsewhere. Without one a notice says why, where that is worth saying.
   *
   * @throws ConfigurationError when the vectors are of another model.
   */
  async embedQuery(query: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    checkedSearch(query, {})
    if (this.#model === undefined || !this.#searcher.hasWords(query)) return {}
    const { embeddings, whyWordsAlone } = await this.#loadVectors(this.#model)
    try {
      const vector = await embeddings.query(query, signal)
      if (vector !== undefined) return { vector }
      if (readFact(this.#connection, 'chunks') === 0) return {}
      return { notice: wordsAlone(`the vectors of ${this.#model.ref} are not complete yet`) }
    } catch (error) {
      signal?.throwIfAborted()
      const why = whyWordsAlone(error)
      if (why === undefined) throw error
      return { notice: wordsAlone(why) }
    }
  }

  /** It has a model that makes questions vectors. */
  get embedsQueries(): boolean {
    return this.#model !== undefined
  }

  /** Which model made the vectors that the store holds; `undefined` when it holds none. */
  get embeddings(): HeldEmbeddings | undefined {
    const [held] = embedders(this.#connection)
    if (held === undefined) return undefined
    const { n = 0 } = this.#connection.get<{ n: number }>('SELECT count(*) AS n FROM vectors WHERE embedder = ?', [held.id]) ?? {}
    return { model: held.model, dimensions: held.dimensions, vectors: n, complete: held.isCurrent }
  }

  /**
   * Makes the vectors that are missing: after `putAll`, after a run that was stopped, or all of them for a model that takes the place of
   * another. What is done is kept, and the next run goes on from there; meanwhile the store can be searched.
   *
   * @throws ConfigurationError without an embedding model, or when the vectors are of another one; CriaError when the model fails for good.
   */
  async embed(options: EmbedRunOptions = {}): Promise<EmbedReport> {
    if (this.#model === undefined) throw new ConfigurationError('The store was opened without an embedding model.')
    const { embeddings } = await this.#loadVectors(this.#model)
    while (this.#apart !== undefined) await this.#apart
    return await embeddings.run(options)
  }

  async delete(source: string): Promise<boolean> {
    while (this.#apart !== undefined) await this.#apart
    return this.#removeSources([source])[0] ?? false
  }

  /** Removes several sources in one transaction; tells which were there. */
  async deleteAll(sources: readonly string[]): Promise<boolean[]> {
    while (this.#apart !== undefined) await this.#apart
    return this.#removeSources(sources)
  }

  /** Gives a source another name; its vectors stay. Returns false when there is none, or the other exists already. */
  async move(from: string, to: string, file?: FileFacts): Promise<boolean> {
    while (this.#apart !== undefined) await this.#apart
    return this.#write(() => {
      const document = readDocument(this.#connection, from)
      const state = this.#stateOf(from)
      if (document === undefined || state === undefined || this.#stateOf(to) !== undefined) return false
      const vectors = vectorsOfSource(this.#connection, from)
      this.#removeSources([from])
      this.#put([{ document: { ...document, source: to }, file: file ?? state.file }])
      giveVectors(this.#connection, to, vectors)
      return true
    })
  }

  async reset(): Promise<void> {
    while (this.#apart !== undefined) await this.#apart
    this.#write(() => removeAll(this.#connection, this.#index))
    // Gives the room back to the disk.
    this.#connection.execute('PRAGMA incremental_vacuum')
  }

  async close(): Promise<void> {
    while (this.#apart !== undefined) await this.#apart
    for (const reader of this.#readers.splice(0)) await reader.close()
    this.#connection.close()
  }

  /** Closes `reader` before this store is closed, or at once when it is closed already. */
  closeWith(reader: Reader): void {
    this.#readers.push(reader)
    if (!this.#connection.isOpen) void this.close()
  }

  /** What is known of a source. */
  getSource(source: string): Promise<SourceState | undefined> {
    return promised(() => this.#stateOf(source))
  }

  /** All sources, by name. What is written meanwhile may or may not be among them. */
  *sources(): Generator<SourceState> {
    let after = ''
    for (;;) {
      const rows = this.#connection.all<SourceRow>(
        `SELECT ${SOURCE_COLUMNS} FROM sources WHERE source > ? ORDER BY source LIMIT 500`,
        [after],
      )
      for (const row of rows) yield stateOf(row)
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.source
    }
  }

  /** Sources whose files had these bytes: where a moved file was before. */
  sourcesWithHash(fileHash: string): Promise<SourceState[]> {
    return promised(() =>
      this.#connection
        .all<SourceRow>(`SELECT ${SOURCE_COLUMNS} FROM sources WHERE file_hash = ? ORDER BY source`, [fileHash])
        .map(stateOf),
    )
  }

  /** The document as it was given, with its whole text. */
  getDocument(source: string): Promise<SourceDocument | undefined> {
    return promised(() => this.#connection.snapshot(() => readDocument(this.#connection, source)))
  }

  getChunk(id: string): Promise<Chunk | undefined> {
    return promised(() => {
      const row = this.#connection.get<ChunkRow>(
        `SELECT ${CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id WHERE chunk_id = ?`,
        [id],
      )
      return row === undefined ? undefined : toChunk(row)
    })
  }

  /** Whether any chunk passes a filter: where none does, a search for anything finds nothing. */
  holdsAny(filter: ChunkFilter): Promise<boolean> {
    return promised(() => letsAnyThrough(this.#connection, filter))
  }

  around(id: string, { chunks, signal }: AroundOptions): Promise<Surroundings | undefined> {
    return promised(() => {
      signal?.throwIfAborted()
      return this.#connection.snapshot(() => readAround(this.#connection, id, Math.max(0, Math.floor(chunks))))
    })
  }

  stats(): Promise<StoreStats> {
    return promised(() =>
      this.#connection.snapshot(() => {
        const count = (sql: string): number => this.#connection.get<{ n: number }>(sql)?.n ?? 0
        return {
          sources: count('SELECT count(*) AS n FROM sources'),
          chunks: readFact(this.#connection, 'chunks'),
          terms: readFact(this.#connection, 'terms'),
          bytes: count('SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size'),
        }
      }),
    )
  }

  #stateOf(source: string): SourceState | undefined {
    const row = this.#connection.get<SourceRow>(`SELECT ${SOURCE_COLUMNS} FROM sources WHERE source = ?`, [source])
    return row === undefined ? undefined : stateOf(row)
  }

  #put(additions: readonly Addition[]): Outcome[] {
    const chunker = (document: SourceDocument): Chunk[] => chunkDocument(document, this.#chunk)
    return this.#write(() => putDocuments(this.#connection, this.#index, additions, chunker, this.#recipe))
  }

  async *#outcomes(
    additions: readonly Addition[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<{ readonly source: string; readonly outcome: Outcome }> {
    if (additions.length === 0) return
    const outcomes = await this.#putSoon(additions, signal)
    for (const [at, outcome] of outcomes.entries()) yield { source: additions[at]?.document.source ?? '', outcome }
  }

  async #putSoon(additions: readonly Addition[], signal?: AbortSignal): Promise<Outcome[]> {
    while (this.#apart !== undefined) await this.#apart
    const isLarge = additions.some(({ document }) => document.text.length > LARGE_CHARS)
    if (!isLarge || this.path === MEMORY || this.#connection.readOnly) return this.#put(additions)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#apart = promise
    try {
      const { putApart } = await import('./worker/put-apart.ts')
      const [path, synchronous, chunk, recipe] = [this.path, this.#synchronous, this.#chunk, this.#recipe]
      return await putApart({ path, synchronous, chunk, recipe, additions }, signal)
    } finally {
      this.#apart = undefined
      resolve()
    }
  }

  #removeSources(sources: readonly string[]): boolean[] {
    return this.#write(() => removeSources(this.#connection, this.#index, sources))
  }

  async #embedIfAble(): Promise<void> {
    if (this.#model !== undefined) await this.embed()
  }

  #searchWords(query: string, limit: number, filter: SearchOptions['filter']): ScoredChunk[] {
    return this.#connection.snapshot(() => this.#searcher.search(query, limit, filter))
  }

  #loadVectors(model: EmbeddingModel): Promise<Vectors> {
    this.#vectors ??= import('./sqlite/embeddings.ts').then(({ Embeddings, whyWordsAlone }) => ({
      embeddings: new Embeddings(this.#connection, model, { store: this.name, replace: this.#replace, busy: () => this.#apart }),
      whyWordsAlone,
    }))
    return this.#vectors
  }

  /** @throws ConfigurationError when the store holds vectors of another model. */
  #modelFor(given: SqliteDocumentStoreOptions['embeddingModel']): EmbeddingModel | undefined {
    if (given === undefined) return undefined
    const [held] = embedders(this.#connection)
    if (typeof given === 'function') return held === undefined ? undefined : given(held.model)
    if (typeof given.embed !== 'function' || typeof given.ref !== 'string') {
      throw new ConfigurationError('embeddingModel must be a result of createEmbeddingModel(), or an object with ref and embed.')
    }
    for (const limit of ['maxBatch', 'maxTokens'] as const) {
      const value: unknown = given[limit]
      if (value === undefined || (typeof value === 'number' && value >= 1)) continue
      throw new ConfigurationError(
        `\`${limit}\` of the embedding model ${given.ref} must be a number of at least 1, but is ${describe(value)}.`,
      )
    }
    if (held === undefined || this.#replace || isMadeBy(held, given, TEXT_RULE)) return given
    throw mismatch(`they were made by ${held.model} with ${held.dimensions} numbers.`, held, given, this.name)
  }

  #write<T>(work: () => T): T {
    try {
      return this.#connection.write(work)
    } catch (error) {
      this.#index.forget()
      throw error
    }
  }

  /** An index that another version of the analyzer made would miss what it should find. */
  #bringUpToDate(): void {
    const isCurrent = (): boolean => readFact(this.#connection, 'analyzer') === ANALYZER_VERSION
    if (isCurrent()) return
    if (this.#connection.readOnly) {
      throw new ConfigurationError(
        `${this.#connection.path} was indexed by another version of cria. Open it once for writing, which indexes it again.`,
      )
    }
    this.#write(() => {
      if (isCurrent()) return
      indexAgain(this.#connection, this.#index)
      writeFact(this.#connection, 'analyzer', ANALYZER_VERSION)
    })
  }
}

const OPTIONS = namesOf<SqliteDocumentStoreOptions>({
  path: true,
  name: true,
  readOnly: true,
  chunk: true,
  embeddingModel: true,
  replaceEmbeddings: true,
  synchronous: true,
})

const SEARCH = namesOf<SearchOptions>({ limit: true, filter: true, signal: true })

/** What is loaded when vectors are made or asked for. */
interface Vectors {
  readonly embeddings: Embeddings
  readonly whyWordsAlone: (error: unknown) => string | undefined
}

function wordsAlone(why: string): StoreNotice {
  return { code: 'words_alone', message: `Searched by words alone: ${why}` }
}

function checkedSearch(
  query: string,
  options: SearchOptions,
): { readonly limit: number; readonly filter: SearchOptions['filter']; readonly signal: AbortSignal | undefined } {
  checkOptionNames('search()', options, SEARCH, { k: 'limit', n: 'limit', nResults: 'limit', topK: 'limit' })
  const { limit = DEFAULT_LIMIT, filter, signal } = options
  if (typeof query !== 'string') throw new ConfigurationError(`A query must be a string, but is ${typeof query}.`)
  if (Number.isNaN(limit) || typeof limit !== 'number') {
    throw new ConfigurationError(`The number of results must be a number, but is ${String(limit)}.`)
  }
  checkFilter(filter)
  signal?.throwIfAborted()
  return { limit: Math.floor(limit), filter, signal }
}

/** What is thrown becomes a rejection; `Promise.try` for Node 22. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}

async function* asFiles(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): AsyncGenerator<FileDocument> {
  for await (const document of documents) yield { document: toDocument(document) }
}
