/** Handles paths that are indexed again after they were deleted: their documents are removed from the index. */

import { access, constants, lstat, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { CriaError, isCriaError } from '../../core/error.ts'
import { resolveRoots } from '../load/walk.ts'
import type { Root } from '../load/walk.ts'
import type { SourceState } from '../sqlite/documents.ts'
import { indexBase } from './indexable-store.ts'
import type { IndexableStore } from './indexable-store.ts'
import { isFromFile, isMissing, pathOf } from './read-changes.ts'

export interface GonePath {
  /** The path as given. */
  readonly path: string
  /** Its sources in the index. */
  readonly sources: readonly SourceState[]
}

export interface NamedPaths {
  readonly roots: readonly Root[]
  readonly gone: readonly GonePath[]
}

/**
 * Separates paths that exist from deleted paths that were indexed. A path counts as deleted only if its folder exists and is readable: a missing
 * folder, or a broken link, may mean an unmounted drive.
 *
 * @param folder Base for relative paths.
 * @throws CriaError `not_found` for a path that neither exists nor was indexed, `configuration` for an invalid path.
 */
export async function resolveNamed(store: IndexableStore, paths: readonly string[], folder: string): Promise<NamedPaths> {
  const roots = new Map<string, Root>()
  const gone: GonePath[] = []
  for (const given of paths) {
    try {
      for (const root of await resolveRoots([given], folder)) roots.set(root.path, root)
    } catch (error) {
      if (!isCriaError(error) || !isMissing(error.cause)) throw error
      // Also where the base itself was deleted: the names in the index are relative to it.
      const base = (await indexBase(store)) ?? (await realpath(folder))
      gone.push({ path: given, sources: await sourcesGone(store, base, given, resolve(folder, given), error) })
    }
  }
  return { roots: [...roots.values()], gone }
}

/** @param path absolute. @param error thrown when the index has no source for the path. */
async function sourcesGone(
  store: IndexableStore,
  base: string,
  given: string,
  path: string,
  error: CriaError,
): Promise<readonly SourceState[]> {
  const above = await nearestFolder(path)
  const real = join(above.real, path.slice(above.path.length))
  const sources = store.sources().filter((known) => {
    const knownPath = pathOf(known.source, base)
    return isFromFile(known) && (knownPath === real || knownPath.startsWith(real + sep))
  })
  const found = [...sources]
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true
  if (found.length === 0 || isLink) throw error
  if (above.path !== dirname(path)) {
    const name =
      path
        .slice(above.path.length)
        .split(sep)
        .find((part) => part !== '') ?? ''
    throw new CriaError(
      'not_found',
      `The path ${JSON.stringify(given)} does not exist, and neither does its folder: nothing was removed.`,
      {
        hint: `If it is on a drive, mount the drive. If its folder was deleted, remove its documents with: cria index ${join(above.path, name)}`,
        cause: error,
      },
    )
  }
  await access(above.path, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw new CriaError(
      'not_found',
      `The folder of ${JSON.stringify(given)} cannot be read, so the path may still exist: nothing was removed.`,
      { cause },
    )
  })
  return found
}

/** Returns the nearest existing folder of a path, as written and with links resolved. */
async function nearestFolder(path: string): Promise<{ readonly path: string; readonly real: string }> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (found?.isDirectory() === true) return { path: folder, real: await realpath(folder) }
    if (folder === dirname(folder)) return { path: folder, real: folder }
  }
}
