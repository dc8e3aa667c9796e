/**
 * Puts documents into a store in a thread. A large document can take minutes, depending on its content (millions of distinct words); it is one
 * transaction, which can only be stopped by terminating the thread.
 */

import { getHeapStatistics } from 'node:v8'
import { CriaError, errorFromInfo } from '../../core/error.ts'
import { askThread, ThreadEnded, threadProgram } from '../../util/threads.ts'
import type { Outcome } from '../sqlite/write.ts'
import type { PutAnswer, PutJob } from './put-worker.ts'

const MEGABYTE = 1024 * 1024
/** Heap limit of the thread, in megabytes. A file of 50 MB of distinct words needs less. */
const MOST_MEMORY = 512
const LEAST_MEMORY = 64

/** Half of the free memory, and at most the limit of the process: the thread runs out of memory before the process does. */
function memoryLimit(): number {
  const free = Math.min(process.availableMemory() / 2, getHeapStatistics().heap_size_limit) / MEGABYTE
  return Math.round(Math.min(MOST_MEMORY, Math.max(LEAST_MEMORY, free)))
}

/**
 * Puts all of the documents, or none when it fails or is aborted. Settles when the thread has closed the file.
 *
 * @throws the reason of the signal when it is aborted; CriaError, with `details.tooLarge` naming a document that needs more than the available memory
 */
export async function putApart(
  job: PutJob,
  signal: AbortSignal | undefined,
  onProgress?: (share: number) => void,
): Promise<Outcome[]> {
  signal?.throwIfAborted()
  const start = await threadProgram(new URL('./put-worker.ts', import.meta.url))
  signal?.throwIfAborted()
  const worker = start({ name: 'cria-put', resourceLimits: { maxOldGenerationSizeMb: memoryLimit() } })
  const onAbort = (): void => void worker.terminate()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const answer = await askThread<PutAnswer>(worker, job, onProgress)
    if ('error' in answer) throw errorFromInfo(answer.error)
    return answer.outcomes
  } catch (thrown) {
    if (!(thrown instanceof ThreadEnded)) throw thrown
    signal?.throwIfAborted()
    throw deathOf(job, thrown)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}

function deathOf({ path, additions }: PutJob, { message, cause, isOutOfMemory }: ThreadEnded): CriaError {
  const [largest] = additions.toSorted((a, b) => b.document.text.length - a.document.text.length)
  const source = largest?.document.source ?? ''
  if (isOutOfMemory) {
    return new CriaError(
      'store_failed',
      `${JSON.stringify(source)} is too large for the available memory: indexing it takes more than ${memoryLimit()} MB.`,
      { cause, details: { tooLarge: source }, hint: 'Nothing of it was stored. Cut it into smaller documents, or leave it out.' },
    )
  }
  return new CriaError(
    'store_failed',
    `The thread that was putting ${JSON.stringify(source)} into ${path} ended before it was done (${message}).`,
    { cause, hint: 'Nothing of it was stored. Cut the document into smaller ones, or leave it out.' },
  )
}
