/** Documents in one SQLite file, found by what they say; no model, no server. */

import { setImmediate } from 'node:timers/promises'
import { ConfigurationError } from '../core/error.ts'
import type { Chunk, DocumentInput, DocumentStore, ScoredChunk, SearchOptions, SourceDocument } from '../core/store.ts'
import { ANALYZER_VERSION, Analyzer } from './analyze/analyzer.ts'
import { CHUNKER_VERSION, chunkDocument } from './chunk/chunk-document.ts'
import type { ChunkOptions } from './chunk/chunk-document.ts'
import type { Connection } from './sqlite/connection.ts'
import { CorpusCache } from './sqlite/corpus.ts'
import { CHUNK_COLUMNS, readDocument, SOURCE_COLUMNS, stateOf, toChunk, toDocument } from './sqlite/documents.ts'
import type { ChunkRow, FileFacts, SourceRow, SourceState } from './sqlite/documents.ts'
import { readFact, writeFact } from './sqlite/facts.ts'
import { openFile } from './sqlite/file.ts'
import { IndexWriter } from './sqlite/index-writer.ts'
import { Searcher } from './sqlite/search.ts'
import { indexAgain, putDocuments, removeAll, removeSources } from './sqlite/write.ts'
import type { Addition, Outcome } from './sqlite/write.ts'
import { misspelt } from '../util/nearest.ts'

export type { FileFacts, Outcome, SourceState }

export interface SqliteDocumentStoreOptions {
  /** The file; made when it is missing. `:memory:` keeps everything in this process. */
  readonly path: string
  /** Shown in events and on the command line; default `documents`. */
  readonly name?: string
  /** Default false. */
  readonly readOnly?: boolean
  /** How documents are cut. */
  readonly chunk?: ChunkOptions
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
/** Documents that are written in one transaction: enough to be fast, few enough that other writers do not wait long. */
const BATCH_DOCUMENTS = 1024
const BATCH_CHARS = 2_000_000
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
  readonly #readers: Reader[] = []

  private constructor(connection: Connection, options: SqliteDocumentStoreOptions) {
    const analyzer = new Analyzer()
    this.name = options.name ?? 'documents'
    this.#connection = connection
    this.#index = new IndexWriter(connection, analyzer)
    this.#searcher = new Searcher(connection, analyzer, new CorpusCache())
    this.#chunk = options.chunk ?? {}
    this.#recipe = JSON.stringify([CHUNKER_VERSION, this.#chunk])
  }

  /**
   * Opens a store, or makes it.
   *
   * @throws ConfigurationError when the path is a folder, an empty file, a file of another application or of a newer version, or is
   * missing and may not be made; CriaError `store_failed` when the disk or another process refuses.
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
    checkOptionNames(options)
    const connection = openFile({ path, readOnly, synchronous })
    try {
      const store = new SqliteDocumentStore(connection, options)
      store.#bringUpToDate()
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

  append(document: DocumentInput): Promise<void> {
    return promised(() => {
      this.#put([{ document: toDocument(document), file: {} }])
    })
  }

  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    for await (const _ of this.putAll(asFiles(documents)));
  }

  /** Puts one document in place of the one with the same source, in one transaction. */
  put(document: SourceDocument, file: FileFacts = {}): Promise<Outcome> {
    return promised(() => this.#put([{ document: toDocument(document), file }])[0] ?? 'unchanged')
  }

  /** As `put` for many, some in one transaction; yields what became of each as soon as it is stored. */
  async *putAll(
    documents: Iterable<FileDocument> | AsyncIterable<FileDocument>,
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
      yield* this.#outcomes(batch)
      batch = []
      chars = 0
      await setImmediate()
    }
    yield* this.#outcomes(batch)
  }

  retrieve(query: string, nResults: number): Promise<ScoredChunk[]> {
    return this.search(query, { limit: nResults })
  }

  search(query: string, options: SearchOptions = {}): Promise<ScoredChunk[]> {
    return promised(() => {
      const { limit = DEFAULT_LIMIT, filter, signal } = options
      if (typeof query !== 'string') throw new ConfigurationError(`A query must be a string, but is ${typeof query}.`)
      if (Number.isNaN(limit) || typeof limit !== 'number') {
        throw new ConfigurationError(`The number of results must be a number, but is ${String(limit)}.`)
      }
      signal?.throwIfAborted()
      return this.#connection.snapshot(() => this.#searcher.search(query, Math.floor(limit), filter))
    })
  }

  delete(source: string): Promise<boolean> {
    return promised(() => this.#removeSources([source])[0] ?? false)
  }

  /** Removes several sources in one transaction; tells which were there. */
  deleteAll(sources: readonly string[]): Promise<boolean[]> {
    return promised(() => this.#removeSources(sources))
  }

  /** Gives a source another name. Returns false when there is none, or the other exists already. */
  move(from: string, to: string, file?: FileFacts): Promise<boolean> {
    return promised(() =>
      this.#write(() => {
        const document = readDocument(this.#connection, from)
        const state = this.#stateOf(from)
        if (document === undefined || state === undefined || this.#stateOf(to) !== undefined) return false
        this.#removeSources([from])
        this.#put([{ document: { ...document, source: to }, file: file ?? state.file }])
        return true
      }),
    )
  }

  reset(): Promise<void> {
    return promised(() => {
      this.#write(() => removeAll(this.#connection, this.#index))
      // Gives the room back to the disk.
      this.#connection.execute('PRAGMA incremental_vacuum')
    })
  }

  async close(): Promise<void> {
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

  *#outcomes(additions: readonly Addition[]): Generator<{ readonly source: string; readonly outcome: Outcome }> {
    if (additions.length === 0) return
    const outcomes = this.#put(additions)
    for (const [at, outcome] of outcomes.entries()) yield { source: additions[at]?.document.source ?? '', outcome }
  }

  #removeSources(sources: readonly string[]): boolean[] {
    return this.#write(() => removeSources(this.#connection, this.#index, sources))
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

const OPTIONS = ['path', 'name', 'readOnly', 'chunk', 'synchronous'] satisfies (keyof SqliteDocumentStoreOptions)[]

/** A misspelt `readOnly` would open a store for writing. */
function checkOptionNames(options: SqliteDocumentStoreOptions): void {
  const slip = misspelt(options, OPTIONS)
  if (slip === undefined) return
  throw new ConfigurationError(`A document store has no option \`${slip.key}\`: did you mean \`${slip.meant}\`?`)
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
