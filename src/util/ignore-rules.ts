/** Reads `.gitignore` and `.criaignore` as git does. */

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Ignore } from 'ignore'

/** Rules of later files override those of earlier files. */
const RULE_FILES = ['.gitignore', '.criaignore']
/** The user's rules for a clone, which are not committed. */
const EXCLUDE_FILE = join('.git', 'info', 'exclude')
/** Maximum size of a rule file: every file is matched against every rule. */
const MAX_BYTES = 500_000
const SPECIAL = /[\\*?[\]! #]/g

/** The rules that apply in a folder: its own, and those of the folders above it up to the root of the repository. */
export class IgnoreRules {
  /** The folder to which paths in rules are relative. */
  readonly #top: string
  readonly #rules: Ignore

  private constructor(top: string, rules: Ignore) {
    this.#top = top
    this.#rules = rules
  }

  /** Reads the rules for the first folder of a walk. Rules above it that exclude the folder itself are ignored, because it was named. */
  static async at(folder: string): Promise<IgnoreRules> {
    const top = await repositoryRoot(folder)
    if (top === undefined) return new IgnoreRules(folder, await noRules()).below(folder)
    let rules = new IgnoreRules(top, (await noRules()).add(await read(join(top, EXCLUDE_FILE))))
    for (const above of foldersBetween(top, folder)) rules = await rules.below(above)
    return rules.ignores(folder, true) ? new IgnoreRules(folder, await noRules()).below(folder) : rules.below(folder)
  }

  /** Returns the rules for a subfolder, including its own rule files. */
  async below(folder: string): Promise<IgnoreRules> {
    const found = await Promise.all(RULE_FILES.map((name) => read(join(folder, name))))
    const patterns = found.flatMap((text) => text.split(/\r?\n/))
    if (patterns.every((pattern) => pattern.trim() === '')) return this
    const prefix = pathBetween(this.#top, folder)
    const rules = (await noRules()).add(this.#rules).add(patterns.map((pattern) => inFolder(pattern, prefix)))
    return new IgnoreRules(this.#top, rules)
  }

  ignores(path: string, isFolder: boolean): boolean {
    const inside = pathBetween(this.#top, path)
    return inside !== '' && this.#rules.ignores(isFolder ? `${inside}/` : inside)
  }
}

/** Rewrites a pattern of a nested file relative to the top folder, so that the last match over all files decides, as in git. */
function inFolder(line: string, prefix: string): string {
  if (prefix === '' || line.trim() === '' || line.startsWith('#')) return line
  const isNegative = line.startsWith('!')
  const pattern = isNegative ? line.slice(1) : line
  const isAnchored = pattern.replace(/\/?\s*$/, '').includes('/')
  const folder = prefix.replaceAll(SPECIAL, String.raw`\$&`)
  return `${isNegative ? '!' : ''}/${folder}/${isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`
}

async function noRules(): Promise<Ignore> {
  const { default: ignore } = await import('ignore')
  return ignore()
}

async function repositoryRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(join(at, '.git')).catch(() => undefined)
    if (found !== undefined) return at
    if (dirname(at) === at) return undefined
  }
}

/** Returns the folders from `top` down to the parent of `folder`. */
function foldersBetween(top: string, folder: string): string[] {
  const folders: string[] = []
  for (let at = folder; at !== top;) {
    at = dirname(at)
    folders.unshift(at)
  }
  return folders
}

function pathBetween(top: string, path: string): string {
  return relative(top, path).split(sep).join('/')
}

/** Reads a rule file; returns an empty text if it is missing, not a regular file, unreadable or too large. */
async function read(path: string): Promise<string> {
  let file: FileHandle | undefined
  try {
    // Does not wait for a pipe.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await file.stat()
    if (!stats.isFile() || stats.size > MAX_BYTES) return ''
    return (await file.readFile('utf8')).replace(/^\ufeff/, '')
  } catch {
    return ''
  } finally {
    await file?.close()
  }
}
