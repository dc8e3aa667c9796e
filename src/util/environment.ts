/** Environment variables: reads those of the process, removes secrets after reading, and passes settings to git. */

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

const taken = new Map<string, string>()

/** Returns the environment, including variables that were removed from `process.env`. */
export function environment(): NodeJS.ProcessEnv {
  return taken.size === 0 ? process.env : { ...process.env, ...Object.fromEntries(taken) }
}

/** Returns the removed values, which must not be stored or shown. */
export function takenValues(): readonly string[] {
  return [...taken.values()]
}

/**
 * Removes variables from the environment of the process; afterwards only `environment()` returns them. The next call also removes
 * variables that were set again.
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

/** Adds secrets that never were in `process.env`: only `environment()` returns them, and they are redacted. */
export function keepValues(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) taken.set(name, value)
}

/** Maximum size of the initial environment of a process, in bytes. */
const MOST = 8_000_000

/**
 * Overwrites values in the memory that `/proc/self/environ` shows: the initial environment of the process, which removing a variable
 * does not change. If the system does not let the process write its own memory, the values stay visible there.
 */
function blankInitial(names: readonly string[]): void {
  let memory: number | undefined
  try {
    // Fields 50 and 51 of `proc(5)`, counted after the name of the program, which may hold spaces.
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
    // Not Linux, or writing is not permitted.
  } finally {
    if (memory !== undefined) closeSync(memory)
  }
}

export type GitSettings = readonly (readonly [key: string, value: string])[]

/** Git settings that override every configuration file. Disable programs that the configuration of a repository could make git run. */
export const HARMLESS_GIT: GitSettings = [
  ['core.fsmonitor', 'false'],
  ['core.virtualFilesystem', ''],
  ['core.hooksPath', '/dev/null'],
  // Ignores bare repositories that are embedded in a work tree.
  ['safe.bareRepository', 'explicit'],
]

/** Returns the variables that pass the settings to git, which numbers them (`GIT_CONFIG_KEY_0`, …) and fails when a number is missing. */
export function gitVariables(settings: GitSettings): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}
