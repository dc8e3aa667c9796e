/** Lists the files of a folder, without ignored, hidden and installed ones. */

import { readdir } from 'node:fs/promises'
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { IgnoreRules } from '../../util/ignore-rules.ts'
import { isSecretPath } from '../permissions/guarded-paths.ts'

export interface WalkOptions {
  /** Includes names that begin with a dot; default false. */
  readonly hidden?: boolean
  /** Aborts the walk. */
  readonly signal?: AbortSignal
}

export interface Entry {
  /** Absolute path. */
  readonly path: string
  /** Path relative to the folder, with `/`. */
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

const NEVER: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules', '__pycache__', 'bower_components'])

/** Yields entries breadth-first, names in the order of their code units. Links are listed but not followed. */
export async function* walkFiles(root: string, { hidden = false, signal }: WalkOptions = {}): AsyncGenerator<Entry> {
  const left: { readonly path: string; readonly name: string; readonly rules: IgnoreRules }[] = [
    { path: root, name: '', rules: await IgnoreRules.at(root) },
  ]
  for (let folder = left.shift(); folder !== undefined; folder = left.shift()) {
    signal?.throwIfAborted()
    for (const entry of await entriesOf(folder.path)) {
      const path = join(folder.path, entry.name)
      const name = folder.name === '' ? entry.name : `${folder.name}/${entry.name}`
      if (isLeftOut(entry, hidden) || folder.rules.ignores(path, entry.isDirectory())) continue
      yield { path, name, kind: kindOf(entry) }
      if (entry.isDirectory()) left.push({ path, name, rules: await folder.rules.below(path) })
    }
  }
}

/** Returns an empty list for a folder that cannot be read. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function isLeftOut({ name }: Dirent, hidden: boolean): boolean {
  return NEVER.has(name) || (name.startsWith('.') && !hidden)
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** Escapes line feeds in a name, so that it does not look like two names. */
export function shownName(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name
}

/** Returns true for files that may be opened without permission. */
export function isOpenToAll({ kind }: Entry, nameInRoot: string): boolean {
  return kind === 'file' && !isSecretPath(nameInRoot)
}
