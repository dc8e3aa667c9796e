/** Compares paths and files with the index: finds deleted paths and changed files, and reads the new text where needed. */

import { access, constants, lstat, realpath, stat } from 'node:fs/promises'
import { dirname, extname, isAbsolute, join, resolve, sep } from 'node:path'
import { CriaError, isCriaError } from '../../core/error.ts'
import type { SourceDocument } from '../../core/store.ts'
import { CHUNKER_VERSION } from '../chunk/chunk-document.ts'
import { extractDocument, LOADER_VERSION, openFile } from '../load/load-file.ts'
import type { LoadLimits, OpenedFile } from '../load/load-file.ts'
import { isMissing } from '../load/unreadable.ts'
import type { Failure } from '../load/unreadable.ts'
import { resolveRoots } from '../load/walk.ts'
import type { FoundFile, Root } from '../load/walk.ts'
import type { FileFacts, SourceState } from '../sqlite/documents.ts'
import { indexBase } from './indexable-store.ts'
import type { IndexableStore } from './indexable-store.ts'

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

/** The result of comparing a file with the index. */
export type Change = {
  /** The index entry of the file; for a moved file, the entry under the old name. */
  readonly known: SourceState | undefined
  /** The reason why the file has no text, or cannot be read now. */
  readonly skipped?: string
  /** Note on how the file was read. */
  readonly note?: string
} & (
  | {
      /** `leave`: keeps the index entry, as the file may be readable next time. `drop`: removes it. */
      readonly kind: 'unchanged' | 'leave' | 'drop'
    }
  | { readonly kind: 'move'; readonly known: SourceState; readonly file: FileFacts }
  | {
      /** `put` replaces the document, or stores one without text that keeps the reason; `touch` updates the file facts. */
      readonly kind: 'put' | 'touch'
      readonly document: SourceDocument
      readonly file: FileFacts
    }
)

export interface Comparison {
  readonly store: IndexableStore
  readonly base: string
  readonly limits: LoadLimits
  /** Reports whether a source was found in this run, or was moved to a file of this run. */
  readonly isTaken: (source: string) => boolean
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** The coarsest file-system clock (FAT) ticks every two seconds: a younger file may change without a new time. */
const COARSEST_TICK = 2000
const SKIPPED = 'skipped'

/** Identifies the way of reading a file; a change of it reads the file again. Named files bypass the ignore rules. */
function recipeOf({ isNamed }: Pick<FoundFile, 'isNamed'>): string {
  return `files ${LOADER_VERSION}.${CHUNKER_VERSION}${isNamed ? ' named' : ''}`
}

export function wasNamed({ file }: SourceState): boolean {
  return file.recipe?.endsWith(' named') === true
}

/** Reports whether a source comes from a file, and not from a call of `append`. */
export function isFromFile({ file }: SourceState): boolean {
  return file.size !== undefined
}

export async function readChange(found: FoundFile, comparison: Comparison): Promise<Change> {
  const { store, limits } = comparison
  const known = await store.getSource(found.source)
  const recipe = recipeOf(found)
  if (
    known !== undefined &&
    known.file.recipe === recipe &&
    known.file.size === found.size &&
    known.file.modifiedAt === found.mtimeMs
  ) {
    return { kind: 'unchanged', known, ...(await reasonKept(store, known)) }
  }
  const opened = await openFile(found, limits)
  if ('skipped' in opened) return withoutText(opened, known)
  const file = factsOf(opened, recipe, comparison.now())
  if (known !== undefined && known.file.recipe === recipe && known.file.hash === opened.hash) {
    const document = await store.getDocument(found.source)
    if (document !== undefined) return { kind: 'touch', known, document, file, ...(await reasonKept(store, known)) }
  }
  const from = known === undefined ? await movedFrom(opened, recipe, comparison) : undefined
  if (from !== undefined) return { kind: 'move', known: from, file, ...(await reasonKept(store, from)) }
  const extracted = await extractDocument(opened, limits)
  if ('document' in extracted) return { kind: 'put', known, ...extracted, file }
  if (extracted.because !== 'content') return withoutText(extracted, known)
  const { skipped } = extracted
  return { kind: 'put', known, document: { source: found.source, text: '', metadata: { [SKIPPED]: skipped } }, file, skipped }
}

/** Returns the stored reason why a known source has no text. */
async function reasonKept(store: IndexableStore, known: SourceState): Promise<{ skipped?: string }> {
  if (known.chunks > 0) return {}
  const reason = (await store.getDocument(known.source))?.metadata?.[SKIPPED]
  return typeof reason === 'string' ? { skipped: reason } : {}
}

function withoutText({ skipped, because }: Failure, known: SourceState | undefined): Change {
  return { kind: because === 'now' ? 'leave' : 'drop', known, skipped }
}

function factsOf({ hash, size, mtimeMs }: OpenedFile, recipe: string, now: number): FileFacts {
  const isSettled = now - mtimeMs > COARSEST_TICK
  return { hash, size, recipe, ...(isSettled ? { modifiedAt: mtimeMs } : {}) }
}

/** Returns a source with the same bytes and recipe whose file no longer exists. */
async function movedFrom({ file, hash }: OpenedFile, recipe: string, comparison: Comparison): Promise<SourceState | undefined> {
  for (const candidate of await comparison.store.sourcesWithHash(hash)) {
    const isAlike =
      candidate.file.recipe === recipe && extname(candidate.source).toLowerCase() === extname(file.source).toLowerCase()
    if (!isAlike || candidate.source === file.source || comparison.isTaken(candidate.source)) continue
    if (await isGone(pathOf(candidate.source, comparison.base))) return candidate
  }
  return undefined
}

export function pathOf(source: string, base: string): string {
  return isAbsolute(source) ? source : join(base, source)
}

/** Reports whether the path does not exist; an inaccessible path does exist. */
export async function isGone(path: string): Promise<boolean> {
  return stat(path).then(() => false, isMissing)
}
