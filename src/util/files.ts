import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

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
