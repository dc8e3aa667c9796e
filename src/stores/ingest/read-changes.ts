/** Compares a file with its index entry: returns the decision and, where needed, the new text. */

import { stat } from 'node:fs/promises'
import { extname, isAbsolute, join } from 'node:path'
import type { SourceDocument } from '../../core/store.ts'
import { CHUNKER_VERSION } from '../chunk/chunk-document.ts'
import { extractDocument, LOADER_VERSION, openFile } from '../load/load-file.ts'
import type { LoadLimits, OpenedFile } from '../load/load-file.ts'
import type { Failure } from '../load/unreadable.ts'
import type { FoundFile } from '../load/walk.ts'
import type { FileFacts, SourceState } from '../sqlite/documents.ts'
import type { IndexableStore } from './indexable-store.ts'

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

/** Reports whether a file-system error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}
