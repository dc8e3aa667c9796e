/** Completes commands, their arguments and paths when Tab is pressed. */

import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'

export interface Completable {
  /** Names of commands, without the slash. */
  readonly commands: readonly string[]
  /** What may stand behind a command, by its name. */
  readonly values: Readonly<Record<string, readonly string[]>>
  readonly cwd: string
}

export interface Completion {
  /** Where in the text the candidates begin. */
  readonly start: number
  /** Whole replacements of what stands between `start` and the cursor. */
  readonly candidates: readonly string[]
}

const MOST = 200

/** @param text up to the cursor. */
export async function complete(text: string, from: Completable): Promise<Completion> {
  const command = /^\/(\S*)$/.exec(text)?.[1]
  if (command !== undefined && !command.includes('/')) {
    const names = from.commands.filter((name) => name.startsWith(command))
    return { start: 0, candidates: names.map((name) => `/${name} `) }
  }
  const [, name = '', value = ''] = /^\/(\S+)\s+(\S*)$/.exec(text) ?? []
  // Own ones only: what was typed may be `/constructor`.
  const known = Object.hasOwn(from.values, name) ? (from.values[name] ?? []) : []
  const values = known.filter((each) => each.startsWith(value))
  if (values.length > 0) return { start: text.length - value.length, candidates: values }
  return completePath(text, from.cwd)
}

async function completePath(text: string, cwd: string): Promise<Completion> {
  const quoted = /@"([^"\n]*)$/.exec(text)?.[1]
  const word = quoted ?? /[^\s"'`(]*$/.exec(text)?.[0] ?? ''
  const nothing = { start: text.length, candidates: [] }
  if (word === '') return nothing
  const isMention = quoted === undefined && word.startsWith('@')
  const path = isMention ? word.slice(1) : word
  const [folder, name] = [path.slice(0, path.lastIndexOf('/') + 1), path.slice(path.lastIndexOf('/') + 1)]
  try {
    const entries = await readdir(locate(folder, cwd), { withFileTypes: true })
    const found = entries
      .filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
      .slice(0, MOST)
    // A mention of a path with spaces stands in quotes, which end behind a file.
    const inQuotes = quoted !== undefined || (isMention && found.some((each) => /\s/.test(each)))
    const candidates = inQuotes ? found.map((each) => `"${each}${each.endsWith('/') ? '' : '"'}`) : found
    return { start: text.length - path.length - (quoted === undefined ? 0 : 1), candidates }
  } catch {
    return nothing
  }
}

/** The absolute path of what is typed as a path. */
export function locate(path: string, cwd: string): string {
  return path.startsWith('~/') ? resolve(homedir(), path.slice(2)) : resolve(cwd, path)
}

/** What all candidates begin with. */
export function commonStart([first = '', ...others]: readonly string[]): string {
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  const start = first.slice(0, length)
  return start.isWellFormed() ? start : start.slice(0, -1)
}
