/** Compares a file with what the index knows of it: the decision and, where it is needed, the new text. */

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

/** A file in comparison with the index. */
export type Change = {
  /** What the index has of the file: of one that was moved, under the name it had. */
  readonly known: SourceState | undefined
  /** Why the file has no text, or cannot be read now. */
  readonly skipped?: string
  /** Worth telling about how the file was read. */
  readonly note?: string
} & (
  | {
      /** `leave`: what was indexed before stays, the file may be readable the next time. `drop`: nothing of it is in the index afterwards. */
      readonly kind: 'unchanged' | 'leave' | 'drop'
    }
  | { readonly kind: 'move'; readonly known: SourceState; readonly file: FileFacts }
  | {
      /** `put` replaces the document, or puts one without text in its place that keeps the reason why there is none; `touch` notes new facts. */
      readonly kind: 'put' | 'touch'
      readonly document: SourceDocument
      readonly file: FileFacts
    }
)

export interface Comparison {
  readonly store: IndexableStore
  readonly base: string
  readonly limits: LoadLimits
  /** Whether a source is among the files that were found this time, or has become one of them under another name. */
  readonly isTaken: (source: string) => boolean
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Clocks of file systems tick as slowly as every two seconds (FAT): a file that is younger may change and look the same. */
const COARSEST_TICK = 2000
const SKIPPED = 'skipped'

/** How files are read; named files are read whatever the ignore rules say. */
function recipeOf({ isNamed }: Pick<FoundFile, 'isNamed'>): string {
  return `files ${LOADER_VERSION}.${CHUNKER_VERSION}${isNamed ? ' named' : ''}`
}

export function wasNamed({ file }: SourceState): boolean {
  return file.recipe?.endsWith(' named') === true
}

/** Comes from a file and not from somebody who appended a document. */
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

/** Why a known source has no text. */
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

/** A source with the same bytes, read in the same way, whose file is gone. */
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

/** There is nothing at this path; not merely nothing that may be seen. */
export async function isGone(path: string): Promise<boolean> {
  return stat(path).then(() => false, isMissing)
}

/** Whether an error of the file system says that there is nothing. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}
