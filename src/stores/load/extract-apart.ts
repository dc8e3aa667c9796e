/**
 * Extracts text in a thread from formats whose readers cannot be aborted. The content of a file, not its size, decides the time and memory they need;
 * a thread can be terminated.
 */

import type { Worker } from 'node:worker_threads'
import { orAborted } from '../../util/promise.ts'
import { askThread, ThreadEnded, threadProgram } from '../../util/threads.ts'
import type { ExtractAnswer, ExtractJob } from './extract-worker.ts'
import type { Extracted, Patience } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

/** Heap limit of the thread, in megabytes. A Word document of a thousand pages needs half of it. */
const MOST_MEMORY = 1024
const WHAT = { pdf: 'a PDF', docx: 'a Word document' } as const

/** Milliseconds after which an idle thread ends: it still holds the memory of its largest file. */
const IDLE_MS = 10_000

/** An idle thread that waits for more work; it does not keep the process alive. */
let idle: { readonly worker: Worker; readonly ending: NodeJS.Timeout } | undefined

/** @throws Unreadable; the reason of the signal when it is aborted. */
export async function extractApart(job: ExtractJob, { timeout, signal }: Patience): Promise<Extracted> {
  signal?.throwIfAborted()
  const worker = taken() ?? (await start())
  const tooMuch = (limit: string): Unreadable => new Unreadable(`${WHAT[job.extractor]} that takes more than ${limit} to read`)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(tooMuch(`${timeout / 1000} s`)), timeout)
  const stop = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  try {
    const answer = await orAborted(askThread<ExtractAnswer>(worker, job), stop)
    if (idle === undefined) keep(worker)
    else await worker.terminate()
    if ('unreadable' in answer) throw new Unreadable(answer.unreadable)
    return answer.extracted
  } catch (thrown) {
    if (idle?.worker !== worker) await worker.terminate()
    if (!(thrown instanceof ThreadEnded)) throw thrown
    if (thrown.isOutOfMemory) throw tooMuch(`${MOST_MEMORY} MB of memory`)
    throw thrown.cause instanceof Error ? thrown.cause : new Error('its reader ended')
  } finally {
    clearTimeout(timer)
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
  const worker = startThread({ name: 'cria-extract', resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY } })
  return worker.on('exit', () => {
    if (idle?.worker === worker) taken()
  })
}
