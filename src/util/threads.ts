/** Starts threads whose program a bundler can include, and sends requests to them. */

import type { Worker, WorkerOptions } from 'node:worker_threads'

/** Starts a thread of a loaded program. */
export type StartThread = (options: WorkerOptions) => Worker

/**
 * Loads the program of a thread.
 *
 * @param program the URL of a module, relative to `import.meta.url`. The library build replaces it with an import of the program's code,
 * because a bundler follows imports but omits the file of a URL.
 */
export function threadProgram(program: URL | Promise<{ readonly code: string }>): StartThread | Promise<StartThread> {
  // Drops process flags such as `--input-type`, which apply to its entry and would keep the thread from starting.
  if (program instanceof URL) return (options) => newWorker(program, { ...options, execArgv: [] })
  return program.then(
    ({ code }) =>
      (options) =>
        newWorker(code, { ...options, execArgv: [], eval: true }),
  )
}

/** Loads `node:worker_threads` on first use: few programs start threads. */
function newWorker(program: string | URL, options: WorkerOptions): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  // An `error` event without a listener would end the process; the `exit` event that follows it is enough.
  return new Worker(program, options).on('error', () => {})
}

/** Thrown when a thread ends before it answers. `cause` is the error that ended it, if any. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded'

  constructor(exitCode: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : `exit code ${exitCode}`, { cause })
  }

  get isOutOfMemory(): boolean {
    return this.cause instanceof Error && 'code' in this.cause && this.cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
  }
}

/** A progress message of a thread before its answer. */
export interface ThreadProgress {
  /** Share of completed work, 0 to 1. */
  readonly share: number
}

/**
 * Sends a request to a thread and resolves to its next message that is not progress. The thread keeps the process alive until then.
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
