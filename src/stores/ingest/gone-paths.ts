/** Paths that are named once more after they were removed from the disk: what the index has of them has to leave. */

import { access, constants, lstat, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { CriaError, isCriaError } from '../../core/error.ts'
import { resolveRoots } from '../load/walk.ts'
import type { Root } from '../load/walk.ts'
import { indexBase } from './indexable-store.ts'
import type { IndexableStore, IndexedSource } from './indexable-store.ts'
import { isFromFile, pathOf } from './read-changes.ts'

export interface GonePath {
  /** As it was given. */
  readonly path: string
  /** What the index has of it. */
  readonly sources: readonly IndexedSource[]
}

export interface NamedPaths {
  readonly roots: readonly Root[]
  readonly gone: readonly GonePath[]
}

/**
 * What is there, and what is gone and was indexed. Gone is only what the folder around it says to be gone: without that folder a drive may
 * not be mounted, and behind a link that leads nowhere too.
 *
 * @param folder The paths are relative to it.
 * @throws CriaError `not_found` for a path that is neither, `configuration` for what is no path.
 */
export async function resolveNamed(
  store: Pick<IndexableStore, 'getDocument' | 'sources'>,
  paths: readonly string[],
  folder: string,
): Promise<NamedPaths> {
  const roots = new Map<string, Root>()
  const missing: { readonly given: string; readonly error: CriaError }[] = []
  for (const given of paths) {
    try {
      for (const root of await resolveRoots([given], folder)) roots.set(root.path, root)
    } catch (error) {
      if (!isCriaError(error) || !isMissing(error)) throw error
      missing.push({ given, error })
    }
  }
  const gone: GonePath[] = []
  // Also one that is gone itself: the names in the index are relative to it.
  const base = missing.length === 0 ? folder : ((await indexBase(store)) ?? (await realpath(folder)))
  for (const { given, error } of missing) gone.push(await goneOf(store, base, { given, path: resolve(folder, given), error }))
  return { roots: [...roots.values()], gone }
}

interface Missing {
  readonly given: string
  /** Absolute. */
  readonly path: string
  readonly error: CriaError
}

async function goneOf(store: Pick<IndexableStore, 'sources'>, base: string, { given, path, error }: Missing): Promise<GonePath> {
  const above = await nearestFolder(path)
  const real = join(above.real, path.slice(above.path.length))
  const sources: IndexedSource[] = []
  for (const known of store.sources()) {
    const knownPath = pathOf(known.source, base)
    if (isFromFile(known) && (knownPath === real || knownPath.startsWith(real + sep))) sources.push(known)
  }
  if (sources.length === 0 || (await isLink(path))) throw error
  if (above.path !== dirname(path)) {
    const topmost = join(
      above.path,
      path
        .slice(above.path.length)
        .split(sep)
        .find((name) => name !== '') ?? '',
    )
    throw new CriaError(
      'not_found',
      `The path ${JSON.stringify(given)} does not exist, and nor does the folder it was in: nothing was removed.`,
      {
        hint: `Is a drive not mounted? What is gone for good is removed with the folder that is gone: cria index ${topmost}`,
        cause: error,
      },
    )
  }
  try {
    await access(above.path, constants.R_OK | constants.X_OK)
  } catch (cause) {
    throw new CriaError(
      'not_found',
      `The folder around ${JSON.stringify(given)} cannot be read, so nobody can tell whether it is gone: nothing was removed.`,
      { cause },
    )
  }
  return { path: given, sources }
}

/** The folder around a path that is there, as it is written and without links. */
async function nearestFolder(path: string): Promise<{ readonly path: string; readonly real: string }> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      if ((await stat(folder)).isDirectory()) return { path: folder, real: await realpath(folder) }
    } catch {
      // One further up.
    }
    if (folder === dirname(folder)) return { path: folder, real: folder }
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch {
    return false
  }
}

function isMissing({ code, cause }: CriaError): boolean {
  const why = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'not_found' && (why === 'ENOENT' || why === 'ENOTDIR')
}
