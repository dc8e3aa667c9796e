/** Writes to the file of a store, one transaction after the other; large documents are written in a thread. */

import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { isCriaError } from '../../core/error.ts'
import type { Chunk, SourceDocument } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { ANALYZER_VERSION } from '../../text/analyzer.ts'
import { Patience } from '../../util/sqlite/patience.ts'
import { isMuchFree, vacuum } from '../../util/sqlite/connection.ts'
import { CHUNKER_VERSION, chunkDocument } from '../chunk/chunk-document.ts'
import type { ChunkOptions } from '../chunk/chunk-document.ts'
import { toDocument } from './documents.ts'
import type { FileFacts } from './documents.ts'
import { STORE_BUSY_MS } from './file.ts'
import { readFact, writeFact } from './facts.ts'
import { IndexWriter } from './index-writer.ts'
import { readDocument, readSource } from './sources.ts'
import { giveVectors, vectorsOfSource } from './vectors.ts'
import { indexAgain, putDocuments, removeAll, removeSources } from './write.ts'
import type { Addition, Outcome, PutResult } from './write.ts'

/** A document and the facts about its file. */
export interface FileDocument {
  /** The document itself. */
  readonly document: SourceDocument
  /** Facts about its file; absent for a document without a file. */
  readonly file?: FileFacts
}

export interface WriterOptions {
  readonly chunk: ChunkOptions
  readonly synchronous: 'normal' | 'full'
}

const MEMORY = ':memory:'
/** Milliseconds for which one step of returning free pages holds the lock. */
const STEP_MS = 25
/** Documents in one transaction: many enough to be fast, few enough that other writers do not wait long. */
const BATCH_DOCUMENTS = 4096
const BATCH_CHARS = 4_000_000
/** Milliseconds after which a batch is written, so that a slow source does not delay its earlier documents. */
const BATCH_MS = 200
/** Longer documents are written in a thread, which keeps the event loop free and can be stopped. */
const LARGE_CHARS = 1_000_000

export class Writer {
  readonly #connection: Connection
  readonly #index: IndexWriter
  readonly #options: WriterOptions
  readonly #recipe: string
  readonly #patience = new Patience(STORE_BUSY_MS)
  #thread: Promise<void> | undefined

  constructor(connection: Connection, options: WriterOptions) {
    this.#connection = connection
    this.#index = new IndexWriter(connection)
    this.#options = options
    this.#recipe = JSON.stringify([CHUNKER_VERSION, options.chunk])
  }

  /**
   * Calls `work` when no thread is writing, synchronously with that check, so that no other writer starts between; repeats it while another process
   * holds the lock. Does not call it if aborted while waiting.
   */
  async alone<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#thread !== undefined) {
      await (signal === undefined ? this.#thread : orAborted(this.#thread, signal))
      signal?.throwIfAborted()
    }
    return this.#patience.run(work)
  }

  /** Writes all documents in one transaction; none when aborted. */
  put(additions: readonly Addition[], signal?: AbortSignal, onProgress?: (share: number) => void): Promise<Outcome[]> {
    return this.alone(() => {
      const isLarge = additions.some(({ document }) => document.text.length > LARGE_CHARS)
      const { path, readOnly } = this.#connection
      return isLarge && path !== MEMORY && !readOnly ? this.#putApart(additions, signal, onProgress) : this.#put(additions)
    }, signal)
  }

  /** Writes documents in batches, a large one alone; yields each result as soon as it is stored. */
  async *putAll(
    documents: Iterable<FileDocument> | AsyncIterable<FileDocument>,
    signal?: AbortSignal,
    onProgress?: (share: number) => void,
  ): AsyncGenerator<PutResult> {
    const batch: Addition[] = []
    let chars = 0
    let began = performance.now()
    for await (const { document, file = {} } of documents) {
      if (batch.length === 0) began = performance.now()
      const addition = { document: toDocument(document), file }
      const { length } = addition.document.text
      const isLarge = length > LARGE_CHARS
      if (!isLarge) {
        batch.push(addition)
        chars += length
        if (batch.length < BATCH_DOCUMENTS && chars < BATCH_CHARS && performance.now() - began < BATCH_MS) continue
      }
      yield* this.#outcomes(batch.splice(0), signal)
      chars = 0
      if (isLarge) yield await this.#putLarge(addition, signal, onProgress)
      else await setImmediate()
    }
    yield* this.#outcomes(batch, signal)
  }

  /** Removes sources in one transaction; returns for each whether it existed. */
  async remove(sources: readonly string[]): Promise<boolean[]> {
    const removed = await this.alone(() => this.#remove(sources))
    if (this.#connection.isOpen && isMuchFree(this.#connection)) await this.#giveBack()
    return removed
  }

  /** Renames a source; returns false when it does not exist, or the new name is taken. */
  move(from: string, to: string, file: FileFacts | undefined): Promise<boolean> {
    return this.alone(() =>
      this.#write(() => {
        const document = readDocument(this.#connection, from)
        const state = readSource(this.#connection, from)
        if (document === undefined || state === undefined || readSource(this.#connection, to) !== undefined) return false
        const vectors = vectorsOfSource(this.#connection, from)
        this.#remove([from])
        this.#put([{ document: { ...document, source: to }, file: file ?? state.file }])
        giveVectors(this.#connection, to, vectors)
        return true
      }),
    )
  }

  async removeAll(): Promise<void> {
    await this.alone(() => this.#write(() => removeAll(this.#connection, this.#index)))
    await this.#giveBack()
  }

  /** Returns free pages to the disk in steps, between which other writes, searches and closing proceed. */
  async #giveBack(): Promise<void> {
    while (await this.alone(() => this.#connection.isOpen && vacuum(this.#connection, STEP_MS))) await sleep(STEP_MS)
  }

  /** False after a change of the analyzer: a search in an index by another version would miss matches. */
  get isCurrent(): boolean {
    return readFact(this.#connection, 'analyzer') === ANALYZER_VERSION
  }

  /** Indexes again after a change of the analyzer. */
  bringUpToDate(): void {
    if (this.isCurrent) return
    this.#write(() => {
      if (this.isCurrent) return
      indexAgain(this.#connection, this.#index)
      writeFact(this.#connection, 'analyzer', ANALYZER_VERSION)
    })
  }

  #put(additions: readonly Addition[]): Outcome[] {
    const chunker = (document: SourceDocument): Chunk[] => chunkDocument(document, this.#options.chunk)
    return this.#write(() => putDocuments(this.#connection, this.#index, additions, chunker, this.#recipe))
  }

  async #putApart(
    additions: readonly Addition[],
    signal: AbortSignal | undefined,
    onProgress: ((share: number) => void) | undefined,
  ): Promise<Outcome[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#thread = promise
    try {
      const { putApart } = await import('../worker/put-apart.ts')
      return await putApart(
        { path: this.#connection.path, ...this.#options, recipe: this.#recipe, additions },
        signal,
        onProgress,
      )
    } finally {
      this.#thread = undefined
      resolve()
    }
  }

  async #putLarge(
    addition: Addition,
    signal: AbortSignal | undefined,
    onProgress: ((share: number) => void) | undefined,
  ): Promise<PutResult> {
    const { source } = addition.document
    try {
      const [outcome = 'unchanged'] = await this.put([addition], signal, onProgress)
      return { source, outcome }
    } catch (error) {
      if (isCriaError(error) && error.details?.['tooLarge'] === source) return { source, outcome: 'failed', error }
      throw error
    }
  }

  async *#outcomes(additions: readonly Addition[], signal: AbortSignal | undefined): AsyncGenerator<PutResult> {
    if (additions.length === 0) return
    const outcomes = await this.put(additions, signal)
    for (const [at, outcome] of outcomes.entries()) yield { source: additions[at]?.document.source ?? '', outcome }
  }

  #remove(sources: readonly string[]): boolean[] {
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
}
