/**
 * Takes the text out of files whose readers cannot be stopped from outside, in a thread that can: what the file is made of decides how long they
 * work and how much memory they need, not its size.
 */

import type { Worker } from 'node:worker_threads'
import { orAborted } from '../../util/promise.ts'
import { askThread, ThreadEnded, threadProgram } from '../../util/threads.ts'
import type { ExtractAnswer, ExtractJob } from './extract-worker.ts'
import type { Extracted, Patience } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

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
