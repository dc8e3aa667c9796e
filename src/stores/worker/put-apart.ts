/**
 * Puts documents into a store from a thread. What a large document holds decides how long that takes, minutes for one of millions of different words;
 * it is one transaction, which can only be stopped from outside.
 */

import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { CriaError, errorFromInfo } from '../../core/error.ts'
import type { Outcome } from '../sqlite/write.ts'
import type { PutAnswer, PutJob, PutProgress } from './put-worker.ts'

const MEGABYTE = 1024 * 1024
/** Megabytes of the thread's heap. A file of 50 MB of words that are all different needs less. */
const MOST_MEMORY = 512
const LEAST_MEMORY = 64

/** Half of what is free, and no more than the process itself may have: the thread ends before the process would. */
function memoryLimit(): number {
  const free = Math.min(process.availableMemory() / 2, getHeapStatistics().heap_size_limit) / MEGABYTE
  return Math.round(Math.min(MOST_MEMORY, Math.max(LEAST_MEMORY, free)))
}

/**
 * All of the documents, or none when it fails or is aborted. Settles when the thread has let the file go.
 *
 * @throws the reason of the signal when it is aborted; CriaError, with `details.tooLarge` naming the document that needs more memory than there is
 */
export async function putApart(
  job: PutJob,
  signal: AbortSignal | undefined,
  onProgress?: (share: number) => void,
): Promise<Outcome[]> {
  signal?.throwIfAborted()
  // Flags of the process such as --input-type are about its entry, and would keep the thread from starting.
  const worker = new Worker(new URL('./put-worker.ts', import.meta.url), {
    name: 'cria-put',
    workerData: job,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryLimit() },
  })
  let answer: PutAnswer | undefined
  let cause: unknown
  const onAbort = (): void => void worker.terminate()
  signal?.addEventListener('abort', onAbort, { once: true })
  worker.on('message', (message: PutAnswer | PutProgress) => {
    if ('share' in message) onProgress?.(message.share)
    else answer = message
  })
  worker.on('error', (error: unknown) => {
    cause = error
  })
  await new Promise((resolve) => worker.once('exit', resolve))
  signal?.removeEventListener('abort', onAbort)
  // What was stored before it was aborted is stored.
  if (answer === undefined) signal?.throwIfAborted()
  if (answer === undefined) throw died(job, cause)
  if ('error' in answer) throw errorFromInfo(answer.error)
  return answer.outcomes
}

function died({ path, additions }: PutJob, cause: unknown): CriaError {
  const [largest] = additions.toSorted((a, b) => b.document.text.length - a.document.text.length)
  const source = largest?.document.source ?? ''
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new CriaError(
      'store_failed',
      `${JSON.stringify(source)} is too large for the memory there is: indexing it takes more than ${memoryLimit()} MB.`,
      { cause, details: { tooLarge: source }, hint: 'Nothing of it was stored. Cut it into smaller documents, or leave it out.' },
    )
  }
  const reason = cause instanceof Error ? cause.message : 'it was ended'
  return new CriaError(
    'store_failed',
    `The thread that was putting ${JSON.stringify(source)} into ${path} ended before it was done (${reason}).`,
    { cause, hint: 'Nothing of it was stored. Cut the document into smaller ones, or leave it out.' },
  )
}
