import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

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

/**
 * Replaces a file as a whole: whoever reads it sees the old content or the new, also after a crash in between. Readable by its owner alone.
 */
export function writeFileAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.${Date.now().toString(36)}.tmp`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(file, content)
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
