/** Asks the thread that searches a store. */

import type { Worker } from 'node:worker_threads'
import { CriaError, errorFromInfo } from '../../core/error.ts'
import type { FoundChunks, ScoredChunk, SearchOptions } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import { threadProgram } from '../../util/threads.ts'
import type { StartThread } from '../../util/threads.ts'
import { END } from './messages.ts'
import type { EmbeddedQuery, QueryEmbedder, SearchAnswer, SearchRequest, StoreFile } from './messages.ts'
import { defined } from '../../util/check.ts'

/** Milliseconds that a thread gets to finish what it is searching and to close its file. */
const PATIENCE_MS = 1000

interface Task {
  readonly request: SearchRequest
  readonly signal: AbortSignal | undefined
  readonly start: StartThread
  readonly resolve: (chunks: ScoredChunk[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Starts its thread with the first question and keeps it; while nothing is asked, the thread does not keep the process alive.
 *
 * Questions wait here and go over one at a time: one that is aborted while it waits is never worked on, and a thread that dies takes only
 * the question with it that it was working on. The next one starts a new thread.
 */
export class SearchThread {
  readonly #file: StoreFile
  readonly #embedder: Partial<QueryEmbedder>
  readonly #waiting: Task[] = []
  #running: Task | undefined
  #worker: Worker | undefined
  #program: StartThread | Promise<StartThread> | undefined
  #closed = false

  /** @param file what is read; a store will do, which then makes questions vectors when it has a model for that. */
  constructor(file: StoreFile & Partial<QueryEmbedder>) {
    this.#file = { path: file.path, name: file.name }
    this.#embedder = file
  }

  /** As a store's `search`. @throws CriaError `store_failed`, retryable, when the thread ends before it has answered. */
  async search(query: string, { limit, filter: given, signal }: SearchOptions = {}): Promise<FoundChunks> {
    signal?.throwIfAborted()
    if (this.#closed) throw this.#closedError()
    // Copied at once: whoever asked may change the filter while the question waits.
    const filter = structuredClone(given)
    this.#program ??= threadProgram(new URL('./search-worker.ts', import.meta.url))
    const start = typeof this.#program === 'function' ? this.#program : await this.#program
    const { vector, notice } = this.#embedder.embedsQueries === true ? await this.#embed(query, signal) : {}
    if (this.#closed) throw this.#closedError()
    const request = {
      query,
      ...defined({ limit, filter, vector }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<ScoredChunk[]>()
    this.#waiting.push({ request, signal, start, resolve, reject })
    this.#next()
    const found = await (signal === undefined ? promise : orAborted(promise, signal))
    return notice === undefined ? found : Object.assign(found, { notice })
  }

  /** Ends the thread; what was asked and is not answered fails. */
  async close(): Promise<void> {
    const worker = this.#worker
    this.#closed = true
    this.#worker = undefined
    this.#running?.reject(this.#closedError())
    this.#running = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closedError())
    if (worker !== undefined) await end(worker)
  }

  async #embed(query: string, signal: AbortSignal | undefined): Promise<EmbeddedQuery> {
    return (await this.#embedder.embedQuery?.(query, signal)) ?? {}
  }

  #next(): void {
    if (this.#running !== undefined) return
    let task = this.#waiting.shift()
    while (task?.signal?.aborted === true) task = this.#waiting.shift()
    if (task === undefined) {
      this.#worker?.unref()
      return
    }
    this.#running = task
    this.#worker ??= this.#startWith(task.start)
    this.#worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    this.#worker.postMessage(task.request)
  }

  #startWith(start: StartThread): Worker {
    const worker = start({ name: 'cria-search', workerData: this.#file })
    let cause: unknown
    worker.on('message', (answer: SearchAnswer) => {
      this.#settle(worker, (task) => ('error' in answer ? task.reject(errorFromInfo(answer.error)) : task.resolve(answer.chunks)))
    })
    worker.on('error', (error: unknown) => {
      cause = error
    })
    worker.on('exit', (code) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#settle(undefined, (task) => task.reject(this.#deathOf(code, cause)))
    })
    return worker
  }

  /** Ends the question that `from` was working on, unless the thread is not ours any more. */
  #settle(from: Worker | undefined, end: (task: Task) => void): void {
    if (this.#worker !== from) return
    const task = this.#running
    this.#running = undefined
    if (task !== undefined) end(task)
    this.#next()
  }

  #deathOf(code: number, cause: unknown): CriaError {
    const reason = cause instanceof Error ? cause.message : `exit code ${code}`
    return new CriaError(
      'store_failed',
      `The thread that searches ${this.#file.path} ended before it had answered (${reason}).`,
      {
        cause,
        retryable: true,
        hint: 'Ask again: the next question starts a new thread.',
      },
    )
  }

  #closedError(): CriaError {
    return new CriaError('store_failed', `The document store ${this.#file.path} is closed.`, {
      hint: 'Use it before it is closed.',
    })
  }
}

/** The thread closes its file and ends; one that is busy for too long is ended from outside, which SQLite does not always survive. */
async function end(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  worker.ref()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  worker.postMessage(END)
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS)
  await promise
  clearTimeout(timer)
}
