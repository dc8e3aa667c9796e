/** Opens, locks and replaces files safely: no followed links, one process at a time, no half-written content. */

import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'

/** Flags to open a fully resolved path: refuses a link, which must be new, and does not wait for a pipe. */
export const AS_IT_WAS_FOUND: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Compares real paths by their components. A folder is inside itself. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Creates a folder and its parents; returns whether it was created. Does not use `mkdirSync` with `recursive`: in Node 24 that loops
 * forever when an existing folder refuses new ones (`/proc`).
 */
export function makeFolder(path: string, mode: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
  const above = dirname(path)
  if (above !== path && !existsSync(above)) makeFolder(above, mode)
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    // Another process has created the folder meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
    throw error
  }
}

/** Milliseconds after which a lock counts as left by a dead process; work under a lock takes a few milliseconds. */
const LOCK_MS = 2000

/** Runs `work`, which reads and replaces a file, under a lock between processes. Blocks the event loop while waiting for the lock. */
export function whileLocked<T>(path: string, work: () => T): T {
  const lock = `${path}.lock`
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx', 0o600))
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
    if (since !== undefined && Math.abs(Date.now() - since) > LOCK_MS) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Replaces a file atomically: readers see the old content or the new, also after a crash. Only the owner can read the file.
 */
export function writeFileAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.${Date.now().toString(36)}.tmp`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      // Writes everything or throws, unlike `writeSync`, which may write a part when the disk becomes full.
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
