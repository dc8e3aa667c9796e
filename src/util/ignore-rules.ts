/** Reads `.gitignore` and `.criaignore` as git does. */

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Ignore } from 'ignore'

/** Later files outweigh earlier ones. */
const RULE_FILES = ['.gitignore', '.criaignore']
/** Rules of a person for a clone, which are not committed. */
const EXCLUDE_FILE = join('.git', 'info', 'exclude')
/** Every file is held against every rule. */
const MAX_BYTES = 500_000
const SPECIAL = /[\\*?[\]! #]/g

/** Rules that hold in one folder: those of all folders above it up to the root of the repository, and its own. */
export class IgnoreRules {
  /** Rules speak of paths relative to this folder. */
  readonly #top: string
  readonly #rules: Ignore

  private constructor(top: string, rules: Ignore) {
    this.#top = top
    this.#rules = rules
  }

  /** Rules for a folder that a walk begins with. Rules above it that would leave out the folder itself do not count: it was named. */
  static async at(folder: string): Promise<IgnoreRules> {
    const top = await repositoryRoot(folder)
    if (top === undefined) return new IgnoreRules(folder, await noRules()).below(folder)
    let rules = new IgnoreRules(top, (await noRules()).add(await read(join(top, EXCLUDE_FILE))))
    for (const above of foldersBetween(top, folder)) rules = await rules.below(above)
    return rules.ignores(folder, true) ? new IgnoreRules(folder, await noRules()).below(folder) : rules.below(folder)
  }

  /** With the rule files of a folder inside. */
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

/** A pattern of a nested file as the topmost one would say it, so that the last match decides over all files as it does in git. */
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

/** From `top` down to the folder above `folder`. */
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

/** A rule file that is missing, is no file, cannot be read or is beyond all measure holds no rules. */
async function read(path: string): Promise<string> {
  let file: FileHandle | undefined
  try {
    // A pipe is not waited for.
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
