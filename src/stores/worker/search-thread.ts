/** Searches a store in another thread, so that the event loop stays free. */

import type { Worker } from 'node:worker_threads'
import { CriaError, errorFromInfo } from '../../core/error.ts'
import type { DocumentStore, FoundChunks, ScoredChunk, SearchOptions } from '../../core/store.ts'
import { defined } from '../../util/check.ts'
import { orAborted } from '../../util/promise.ts'
import { askThread, threadProgram } from '../../util/threads.ts'
import type { StartThread, ThreadEnded } from '../../util/threads.ts'
import { ForwardingStore } from '../lazy.ts'
import type { EmbeddedQuery } from '../sqlite/nearest.ts'
import type { Request, SearchAnswer, SearchRequest, StoreFile } from './search-worker.ts'

/** Embeds questions, in the calling thread. */
interface QueryEmbedder {
  /** True if it has a model. */
  readonly embedsQueries: boolean
  embedQuery(query: string, signal?: AbortSignal): Promise<EmbeddedQuery>
}

/** Milliseconds for a thread to finish its search and close its file. */
const PATIENCE_MS = 1000

/**
 * Starts its thread with the first question and keeps it; an idle thread does not keep the process alive.
 *
 * Questions wait here and are sent one at a time: a question aborted while waiting is never searched, and a thread that dies fails only the question
 * it was working on. The next question starts a new thread.
 */
export class SearchThread {
  readonly #file: StoreFile
  readonly #embedder: Partial<QueryEmbedder>
  readonly #closing = new AbortController()
  /** Settles when all questions so far are answered; `undefined` without pending questions. */
  #open: Promise<void> | undefined
  #worker: Worker | undefined
  #program: StartThread | Promise<StartThread> | undefined

  /** @param file to read; a store also works, and embeds questions when it has a model. */
  constructor(file: StoreFile & Partial<QueryEmbedder>) {
    this.#file = { path: file.path, name: file.name }
    this.#embedder = file
  }

  /** As a store's `search`. @throws CriaError `store_failed`, retryable, when the thread ends before it has answered. */
  async search(query: string, { limit, filter: given, signal }: SearchOptions = {}): Promise<FoundChunks> {
    const stop = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    stop.throwIfAborted()
    // Copied at once, because the caller may change the filter while the question waits.
    const filter = structuredClone(given)
    this.#program ??= threadProgram(new URL('./search-worker.ts', import.meta.url))
    const start = typeof this.#program === 'function' ? this.#program : await this.#program
    const { vector, notice } = this.#embedder.embedsQueries === true ? await this.#embed(query, signal) : {}
    stop.throwIfAborted()
    const request = { query, ...defined({ limit, filter, vector }) }
    const found = await orAborted(this.#inTurn(request, start, stop), stop)
    return notice === undefined ? found : Object.assign(found, { notice })
  }

  /** Ends the thread; rejects unanswered questions. */
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

  /** Sends the request after all earlier ones are answered: at once if there is none. */
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
    // Listens before any question does, so that the next one starts a new thread.
    return worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
  }

  #deathOf(ended: ThreadEnded): CriaError {
    return new CriaError(
      'store_failed',
      `The thread that searches ${this.#file.path} ended before it answered (${ended.message}).`,
      { cause: ended.cause, retryable: true, hint: 'Ask again: the next question starts a new thread.' },
    )
  }
}

/** Asks the thread to close its file and end; terminates it after a timeout, which SQLite does not always survive. */
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

/** Writes through the store itself and searches in a thread, which reads the same file and sees writes at once. Closing it closes the store. */
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
