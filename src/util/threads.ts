/** Starts threads whose program a bundler can take along, and asks them. */

import type { Worker, WorkerOptions } from 'node:worker_threads'

/** Starts one thread of a program that has been loaded. */
export type StartThread = (options: WorkerOptions) => Worker

/**
 * Loads the program of a thread.
 *
 * @param program the URL of a module, seen from `import.meta.url`. The build of the library puts an import of the program's code in its place: a
 * bundler follows an import and leaves the file of a URL behind.
 */
export function threadProgram(program: URL | Promise<{ readonly code: string }>): StartThread | Promise<StartThread> {
  // Flags of the process such as --input-type are about its entry, and would keep the thread from starting.
  if (program instanceof URL) return (options) => newWorker(program, { ...options, execArgv: [] })
  return program.then(
    ({ code }) =>
      (options) =>
        newWorker(code, { ...options, execArgv: [], eval: true }),
  )
}

/** Loads Node's threads with the first one: few programs start any. */
function newWorker(program: string | URL, options: WorkerOptions): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  // An `error` event without a listener would end the process; the `exit` event that follows it is enough.
  return new Worker(program, options).on('error', () => {})
}

/** A thread that ended before it answered. `cause` is the error that ended it, where there was one. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded'

  constructor(exitCode: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : `exit code ${exitCode}`, { cause })
  }

  get isOutOfMemory(): boolean {
    return this.cause instanceof Error && 'code' in this.cause && this.cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
  }
}

/** A message of a thread that comes before its answer. */
export interface ThreadProgress {
  /** Share of the work that is done, 0 to 1. */
  readonly share: number
}

/**
 * Sends a request to a thread and waits for its next message that is no progress. The thread keeps the process alive until then, and not after it.
 *
 * @throws ThreadEnded
 */
export async function askThread<Answer extends object>(
  worker: Worker,
  request: unknown,
  onProgress?: (share: number) => void,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let cause: unknown
  const onMessage = (message: Answer | ThreadProgress): void => {
    if ('share' in message) onProgress?.(message.share)
    else resolve(message)
  }
  const onError = (error: unknown): void => {
    cause = error
  }
  const onExit = (code: number): void => reject(new ThreadEnded(code, cause))
  worker.on('message', onMessage).on('error', onError).on('exit', onExit).ref()
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    worker.postMessage(request)
    return await promise
  } finally {
    worker.off('message', onMessage).off('error', onError).off('exit', onExit).unref()
  }
}
