/** Records the threads that a test starts, and their messages. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'

export interface StartedThread {
  readonly worker: Worker
  readonly messages: unknown[]
}

export interface WatchedThreads extends Disposable {
  /** Threads in the order of their start. */
  readonly started: readonly StartedThread[]
}

export function watchThreads(): WatchedThreads {
  const started: StartedThread[] = []
  const onThread = (message: unknown): void => {
    const { worker } = message as { worker: Worker }
    const messages: unknown[] = []
    worker.on('message', (each: unknown) => messages.push(each))
    started.push({ worker, messages })
  }
  subscribe('worker_threads', onThread)
  return { started, [Symbol.dispose]: () => unsubscribe('worker_threads', onThread) }
}
