/** Reads the environment of the process, and removes keys from it once they are read. */

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

const taken = new Map<string, string>()

/** The environment with what was taken out of it. */
export function environment(): NodeJS.ProcessEnv {
  return taken.size === 0 ? process.env : { ...process.env, ...Object.fromEntries(taken) }
}

/** The values that were taken: nothing that is written down or shown may hold them. */
export function takenValues(): readonly string[] {
  return [...taken.values()]
}

/**
 * Takes variables out of the environment of the process. From then on only `environment()` has them. A variable that is set again later is taken
 * again with the next call.
 */
export function takeVariables(names: Iterable<string>): void {
  const found: string[] = []
  for (const name of names) {
    const value = process.env[name]
    if (value === undefined || value === '') continue
    taken.set(name, value)
    delete process.env[name]
    found.push(name)
  }
  if (found.length > 0 && process.platform === 'linux') blankInitial(found)
}

/** Keeps values as if they had been taken out of the environment: only `environment()` has them, and nothing that is written down shows them. */
export function keepValues(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) taken.set(name, value)
}

/** Bytes of the environment that a process can have been started with. */
const MOST = 8_000_000

/**
 * Overwrites values in the memory that `/proc/self/environ` shows: the environment that the process was started with, which stays as it is when
 * a variable is removed. A process may write its own memory. Where the system does not let it, the key stays visible there.
 */
function blankInitial(names: readonly string[]): void {
  let memory: number | undefined
  try {
    // Fields 50 and 51 of `proc(5)`, counted behind the name of the program, which may hold anything.
    const fields = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .trim()
      .split(' ')
    const [start, end] = [Number(fields[47]), Number(fields[48])]
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || end <= start || end - start > MOST) return
    memory = openSync('/proc/self/mem', 'r+')
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    for (const name of names) {
      const key = Buffer.from(`${name}=`)
      for (let at = block.indexOf(key); at !== -1; at = block.indexOf(key, at + 1)) {
        if (at !== 0 && block[at - 1] !== 0) continue
        const from = at + key.length
        const length = block.indexOf(0, from) - from
        if (length > 0) writeSync(memory, Buffer.alloc(length), 0, length, start + from)
      }
    }
  } catch {
    // Another kernel, or no such right.
  } finally {
    if (memory !== undefined) closeSync(memory)
  }
}
