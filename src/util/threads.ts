/** Starts threads whose program a bundler can take along. */

import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

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
  if (program instanceof URL) return (options) => new Worker(program, { ...options, execArgv: [] })
  return program.then(
    ({ code }) =>
      (options) =>
        new Worker(code, { ...options, execArgv: [], eval: true }),
  )
}
