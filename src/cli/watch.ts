/** Watches files, and tells when they have changed. */

import { statSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A change is told when nothing else has followed for so long: many files change at once. */
const QUIET_MS = 200
/** Where a system does not tell of changes, everything is looked at so often. */
const POLL_MS = 3000
const NOT_INDEXED = /(?:^|[\\/])(?:\.git|node_modules)(?:[\\/]|$)/

/**
 * Watches these files, and what lies in these folders, from now on. Yields once at the beginning, for what has changed meanwhile, and after
 * each change, until the signal is aborted.
 *
 * @param paths absolute.
 */
export function changesBelow(paths: readonly string[], signal: AbortSignal): AsyncGenerator<void> {
  let changed = 1
  let wake = (): void => {}
  const onChange = (name: string | null): void => {
    if (name !== null && NOT_INDEXED.test(name)) return
    changed++
    wake()
  }
  const watchers = paths.map((path) => watcherOf(path, onChange))
  const polls = watchers.includes(undefined)
  signal.addEventListener('abort', () => wake(), { once: true })
  return told()

  async function* told(): AsyncGenerator<void> {
    const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
    try {
      for (let seen = 0; !signal.aborted;) {
        if (polls) await pause(POLL_MS)
        else if (changed === seen) await new Promise<void>((resolve) => void (wake = resolve))
        for (; seen !== changed && !signal.aborted; await pause(QUIET_MS)) seen = changed
        if (!signal.aborted) yield
      }
    } finally {
      for (const watcher of watchers) watcher?.close()
    }
  }
}

/** `undefined` where there is nothing to watch, or not enough of what it takes. */
function watcherOf(path: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    const isFolder = statSync(path).isDirectory()
    // Editors put another file in the place of the one they change.
    const watched = isFolder ? watch(path, { recursive: true }) : watch(dirname(path))
    watched.on('change', (_, name) => {
      const changed = typeof name === 'string' ? name : null
      if (isFolder || changed === null || changed === basename(path)) onChange(changed)
    })
    // A folder that is removed ends its watcher.
    watched.on('error', () => onChange(null))
    return watched
  } catch {
    return undefined
  }
}
