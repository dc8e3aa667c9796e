/** Starts threads whose program a bundler can take along. */

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
  return new Worker(program, options)
}
