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

/** Flags for a file whose place was found by following every link: one that stands there now was put there since, and a pipe is not waited for. */
export const AS_IT_WAS_FOUND: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Compares by components of the path; both have to be real paths. A folder is inside itself. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Makes a folder and those above it; tells whether it had to be made. Not `mkdirSync` with `recursive`: where a folder is there and takes no
 * other (`/proc`), that one of Node 24 tries again for ever.
 */
export function makeFolder(path: string, mode: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
  const above = dirname(path)
  if (above !== path && !existsSync(above)) makeFolder(above, mode)
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    // Another process was faster, and its folder is as good.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
    throw error
  }
}

/** Milliseconds after which a lock counts as one of a process that has died: work under a lock takes a few. */
const LOCK_MS = 2000

/** Runs `work`, which reads a file and replaces it, while no other process does so with the same file. Waits for others without yielding. */
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
 * Replaces a file as a whole: whoever reads it sees the old content or the new, also after a crash in between. Readable by its owner alone.
 */
export function writeFileAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.${Date.now().toString(36)}.tmp`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      // Unlike one `writeSync` it writes all, or throws: a disk that becomes full takes a part.
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
