/** Finds the files below the paths that a user named, and reports skipped files with a reason. */

import { readdir, readlink, realpath, stat } from 'node:fs/promises'
import type { Dirent } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { isGenerated, promisedKind } from './formats.ts'
import { isInside } from '../../util/files.ts'
import { IgnoreRules } from '../../util/ignore-rules.ts'
import { isSecretName } from '../../util/secret-files.ts'
import { codeOf, isMissing } from './unreadable.ts'

export interface FoundFile {
  /** Absolute, with links resolved. */
  readonly path: string
  readonly source: string
  readonly size: number
  readonly mtimeMs: number
  /** True if the user named the file; false if it was found in a folder. */
  readonly isNamed: boolean
}

/** A skipped file or folder. */
export interface SkippedFile {
  /** Name as a source; folders end in `/`. */
  readonly path: string
  /** Reason, as a phrase. */
  readonly reason: string
}

export type Found = { readonly file: FoundFile } | { readonly skipped: SkippedFile }

/** A path that a user named. */
export interface Root {
  /** Absolute, with links resolved. */
  readonly path: string
  readonly isFolder: boolean
}

const NO_CHARACTER = '\uFFFD'
const UNKNOWN = 'unknown error'
const LEFT_OUT = new Set(['node_modules', 'bower_components', '__pycache__', 'jspm_packages'])

/**
 * Resolves the paths on the disk, without duplicates.
 *
 * @param folder Base for relative paths.
 * @throws CriaError `not_found` with the path that does not exist, `configuration` for an invalid path.
 */
export async function resolveRoots(paths: readonly string[], folder: string): Promise<Root[]> {
  const roots = new Map<string, Root>()
  for (const given of paths) {
    if (typeof given !== 'string' || given === '') {
      throw new CriaError(
        'configuration',
        `A path must be a string that is not empty, but is ${JSON.stringify(given) ?? 'undefined'}.`,
      )
    }
    if (given.includes('\0')) throw new CriaError('configuration', `A path cannot hold a NUL byte: ${JSON.stringify(given)}.`)
    try {
      const path = await realpath(resolve(folder, given))
      const isFolder = (await stat(path)).isDirectory()
      roots.set(path, { path, isFolder })
    } catch (cause) {
      const why = isMissing(cause) ? 'does not exist' : `cannot be read (${codeOf(cause) ?? UNKNOWN})`
      throw new CriaError('not_found', `The path ${JSON.stringify(given)} ${why}.`, { cause })
    }
  }
  return [...roots.values()]
}

/** Returns the name of a file in an index: relative to the base if it lies below it, else absolute; with forward slashes. */
function sourceOf(path: string, base: string): string {
  return (isInside(path, base) ? relative(base, path) : path).split(sep).join('/')
}

/**
 * Yields files in the order of their names, named files first. Each file is yielded once, however many roots contain it.
 *
 * @param base Folder that sources are relative to; absolute, with links resolved.
 */
export async function* walk(roots: readonly Root[], base: string, signal?: AbortSignal): AsyncGenerator<Found> {
  const named = roots.filter(({ isFolder }) => !isFolder)
  for (const root of named) yield await describe(root.path, sourceOf(root.path, base), true)
  const walker = new Walker(base, new Set(named.map(({ path }) => path)), signal)
  for (const root of roots) if (root.isFolder) yield* walker.folder(root.path, root.path, await IgnoreRules.at(root.path))
}

class Walker {
  readonly #base: string
  readonly #named: ReadonlySet<string>
  readonly #signal: AbortSignal | undefined
  readonly #visited = new Set<string>()

  constructor(base: string, named: ReadonlySet<string>, signal: AbortSignal | undefined) {
    this.#base = base
    this.#named = named
    this.#signal = signal
  }

  async *folder(folder: string, root: string, rules: IgnoreRules): AsyncGenerator<Found> {
    this.#signal?.throwIfAborted()
    if (this.#visited.has(folder)) return
    this.#visited.add(folder)
    let entries: Dirent[]
    try {
      entries = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      yield this.#skip(folder, true, unreadable(folder, error))
      return
    }
    // By code units, not by locale, so that the order is the same everywhere.
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      this.#signal?.throwIfAborted()
      const path = join(folder, entry.name)
      if (this.#named.has(path)) continue
      const isFolder = entry.isDirectory()
      const reason = await this.#reasonAgainst(entry, path, root, rules)
      if (reason !== undefined) yield this.#skip(path, isFolder, reason)
      else if (isFolder) yield* this.folder(path, root, await rules.below(path))
      else yield await describe(path, sourceOf(path, this.#base), false)
    }
  }

  async #reasonAgainst(entry: Dirent, path: string, root: string, rules: IgnoreRules): Promise<string | undefined> {
    const { name } = entry
    if (entry.isSymbolicLink()) return reasonAgainstLink(path, root)
    if (entry.isDirectory()) {
      if (LEFT_OUT.has(name)) return `${name} folders are left out`
      if (name.startsWith('.')) return 'hidden folder'
      if (rules.ignores(path, true)) return 'ignored by .gitignore or .criaignore'
      return this.#visited.has(path) ? 'found already' : undefined
    }
    if (!entry.isFile()) return 'not a regular file'
    if (isSecretName(name)) return 'may hold secrets'
    if (name.startsWith('.')) return 'hidden file'
    if (rules.ignores(path, false)) return 'ignored by .gitignore or .criaignore'
    if (isGenerated(name)) return 'generated file'
    const kind = promisedKind(name)
    return kind !== undefined && 'unsupported' in kind ? kind.unsupported : undefined
  }

  #skip(path: string, isFolder: boolean, reason: string): Found {
    return { skipped: { path: `${sourceOf(path, this.#base)}${isFolder ? '/' : ''}`, reason } }
  }
}

/** Returns the reason for skipping a link: a target inside the root is found there, and a target outside was not named. */
async function reasonAgainstLink(path: string, root: string): Promise<string> {
  try {
    const target = await realpath(path)
    if (!isInside(target, root)) return 'link to a place outside the folder'
    const inside = relative(root, target)
    return `link to ${inside === '' ? 'the folder itself' : inside.split(sep).join('/')}`
  } catch (error) {
    return codeOf(error) === 'ELOOP' ? 'link to itself' : `broken link to ${await readlink(path).catch(() => dirname(path))}`
  }
}

async function describe(path: string, source: string, isNamed: boolean): Promise<Found> {
  try {
    const found = await stat(path)
    // Opening a pipe would wait for a writer.
    if (!found.isFile()) return { skipped: { path: source, reason: 'not a regular file' } }
    const { size, mtimeMs } = found
    return { file: { path, source, size, mtimeMs, isNamed } }
  } catch (error) {
    const isThere = codeOf(error) !== 'ENOENT' || path.includes(NO_CHARACTER)
    return { skipped: { path: source, reason: isThere ? unreadable(path, error) : 'gone' } }
  }
}

/** A name that is not UTF-8 is listed with U+FFFD, and no file has that name. */
function unreadable(path: string, error: unknown): string {
  const code = codeOf(error) ?? UNKNOWN
  return `unreadable (${code === 'ENOENT' && path.includes(NO_CHARACTER) ? 'its name is not in UTF-8: rename it' : code})`
}
