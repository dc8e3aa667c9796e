/**
 * Takes the text out of files whose readers cannot be stopped from outside, in a thread that can: what the file is made of decides how long they
 * work and how much memory they need, not its size.
 */

import type { Worker } from 'node:worker_threads'
import { threadProgram } from '../../util/threads.ts'
import type { Extracted } from './unreadable.ts'
import type { ExtractAnswer, ExtractJob } from './extract-worker.ts'
import { Unreadable } from './unreadable.ts'

export interface Patience {
  /** Milliseconds for the whole file. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
}

/** Megabytes of the thread's heap. A Word document of a thousand pages needs half of it. */
const MOST_MEMORY = 1024
const WHAT = { pdf: 'a PDF', docx: 'a Word document' } as const

/** Milliseconds for which a thread is kept that has nothing to do: it holds the memory of its largest file. */
const IDLE_MS = 10_000

/** Has done its work and waits for more; it keeps no process alive. */
let idle: { readonly worker: Worker; readonly ending: NodeJS.Timeout } | undefined

/** @throws Unreadable; the reason of the signal when it is aborted. */
export async function extractApart(job: ExtractJob, { timeout, signal }: Patience): Promise<Extracted> {
  signal?.throwIfAborted()
  const worker = taken() ?? (await start())
  worker.ref()
  const { promise, resolve, reject } = Promise.withResolvers<ExtractAnswer>()
  const onAbort = (): void => reject(signal?.reason)
  const onExit = (): void => reject(new Error('its reader ended'))
  const onError = (error: Error): void => reject(isOutOfMemory(error) ? tooMuch(job, `${MOST_MEMORY} MB of memory`) : error)
  const timer = setTimeout(() => reject(tooMuch(job, `${timeout / 1000} s`)), timeout)
  signal?.addEventListener('abort', onAbort, { once: true })
  worker.once('message', resolve).once('error', onError).once('exit', onExit)
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    worker.postMessage(job)
    const answer = await promise
    worker.off('error', onError).off('exit', onExit).unref()
    if (idle === undefined) keep(worker)
    else await worker.terminate()
    if ('unreadable' in answer) throw new Unreadable(answer.unreadable)
    return answer.extracted
  } catch (thrown) {
    if (idle?.worker !== worker) await worker.terminate()
    throw thrown
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function taken(): Worker | undefined {
  clearTimeout(idle?.ending)
  const worker = idle?.worker
  idle = undefined
  return worker
}

function keep(worker: Worker): void {
  idle = { worker, ending: setTimeout(() => void taken()?.terminate(), IDLE_MS).unref() }
}

async function start(): Promise<Worker> {
  const startThread = await threadProgram(new URL('./extract-worker.ts', import.meta.url))
  const worker = startThread({
    name: 'cria-extract',
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY },
  })
  worker.on('error', () => {})
  worker.on('exit', () => {
    if (idle?.worker === worker) taken()
  })
  return worker
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooMuch({ extractor }: ExtractJob, limit: string): Unreadable {
  return new Unreadable(`${WHAT[extractor]} that takes more than ${limit} to read`)
}
