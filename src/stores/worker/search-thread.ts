/** Searches a store in another thread, so that the event loop of this one stays free meanwhile. */

import type { Worker } from 'node:worker_threads'
import { CriaError, errorFromInfo } from '../../core/error.ts'
import type { DocumentStore, FoundChunks, ScoredChunk, SearchOptions } from '../../core/store.ts'
import { defined } from '../../util/check.ts'
import { orAborted } from '../../util/promise.ts'
import { askThread, threadProgram } from '../../util/threads.ts'
import type { StartThread, ThreadEnded } from '../../util/threads.ts'
import { ForwardingStore } from '../memory.ts'
import type { EmbeddedQuery } from '../sqlite/nearest.ts'
import type { Request, SearchAnswer, SearchRequest, StoreFile } from './search-worker.ts'

/** Makes questions vectors, in the thread that asks. */
interface QueryEmbedder {
  /** It has a model. */
  readonly embedsQueries: boolean
  embedQuery(query: string, signal?: AbortSignal): Promise<EmbeddedQuery>
}

/** Milliseconds that a thread gets to finish what it is searching and to close its file. */
const PATIENCE_MS = 1000

/**
 * Starts its thread with the first question and keeps it; while nothing is asked, the thread does not keep the process alive.
 *
 * Questions wait here and go over one at a time: one that is aborted while it waits is never worked on, and a thread that dies takes only
 * the question with it that it was working on. The next one starts a new thread.
 */
export class SearchThread {
  readonly #file: StoreFile
  readonly #embedder: Partial<QueryEmbedder>
  readonly #closing = new AbortController()
  /** Settles when all questions so far are answered; `undefined` while none is open. */
  #open: Promise<void> | undefined
  #worker: Worker | undefined
  #program: StartThread | Promise<StartThread> | undefined

  /** @param file what is read; a store will do, which then makes questions vectors when it has a model for that. */
  constructor(file: StoreFile & Partial<QueryEmbedder>) {
    this.#file = { path: file.path, name: file.name }
    this.#embedder = file
  }

  /** As a store's `search`. @throws CriaError `store_failed`, retryable, when the thread ends before it has answered. */
  async search(query: string, { limit, filter: given, signal }: SearchOptions = {}): Promise<FoundChunks> {
    const stop = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    stop.throwIfAborted()
    // Copied at once: whoever asked may change the filter while the question waits.
    const filter = structuredClone(given)
    this.#program ??= threadProgram(new URL('./search-worker.ts', import.meta.url))
    const start = typeof this.#program === 'function' ? this.#program : await this.#program
    const { vector, notice } = this.#embedder.embedsQueries === true ? await this.#embed(query, signal) : {}
    stop.throwIfAborted()
    const request = { query, ...defined({ limit, filter, vector }) }
    const found = await orAborted(this.#inTurn(request, start, stop), stop)
    return notice === undefined ? found : Object.assign(found, { notice })
  }

  /** Ends the thread; what was asked and is not answered fails. */
  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#closing.abort(
      new CriaError('store_failed', `The document store ${this.#file.path} is closed.`, { hint: 'Use it before it is closed.' }),
    )
    if (worker !== undefined) await end(worker)
  }

  async #embed(query: string, signal: AbortSignal | undefined): Promise<EmbeddedQuery> {
    return (await this.#embedder.embedQuery?.(query, signal)) ?? {}
  }

  /** Asks when all that was asked before is answered: at once where there is nothing. */
  #inTurn(request: SearchRequest, start: StartThread, stop: AbortSignal): Promise<ScoredChunk[]> {
    const answer =
      this.#open === undefined
        ? this.#ask(request, start)
        : this.#open.then(() => {
            stop.throwIfAborted()
            return this.#ask(request, start)
          })
    const settled: Promise<void> = Promise.allSettled([answer]).then(() => {
      if (this.#open === settled) this.#open = undefined
    })
    this.#open = settled
    return answer
  }

  async #ask(request: SearchRequest, start: StartThread): Promise<ScoredChunk[]> {
    const worker = (this.#worker ??= this.#startWith(start))
    const answer = await askThread<SearchAnswer>(worker, request).catch((ended: ThreadEnded) => {
      throw this.#deathOf(ended)
    })
    if ('error' in answer) throw errorFromInfo(answer.error)
    return answer.chunks
  }

  #startWith(start: StartThread): Worker {
    const worker = start({ name: 'cria-search', workerData: this.#file })
    // Listens before any question does: the next one starts a new thread.
    return worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
  }

  #deathOf(ended: ThreadEnded): CriaError {
    return new CriaError(
      'store_failed',
      `The thread that searches ${this.#file.path} ended before it had answered (${ended.message}).`,
      { cause: ended.cause, retryable: true, hint: 'Ask again: the next question starts a new thread.' },
    )
  }
}

/** The thread closes its file and ends; one that is busy for too long is ended from outside, which SQLite does not always survive. */
async function end(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  worker.ref()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  worker.postMessage('end' satisfies Request)
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS)
  await promise
  clearTimeout(timer)
}

/** Writes to a store itself, and asks a thread, which reads the same file and finds at once what was written. Closing it closes the store. */
export class WorkerStore extends ForwardingStore {
  readonly #thread: SearchThread

  constructor(store: DocumentStore, thread: SearchThread) {
    super(store.name, () => store)
    this.#thread = thread
  }

  override retrieve(query: string, nResults: number): Promise<FoundChunks> {
    return this.#thread.search(query, { limit: nResults })
  }

  override search(query: string, options?: SearchOptions): Promise<FoundChunks> {
    return this.#thread.search(query, options)
  }
}
