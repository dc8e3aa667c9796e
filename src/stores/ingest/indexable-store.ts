/** The port of stores that files can be indexed into incrementally (`index-files.ts`). */

import type { DocumentStore, SourceDocument } from '../../core/store.ts'
import { promises } from 'node:fs'

/** What is known of the file that a document was read from. */
export interface FileFacts {
  /** SHA-256 of the bytes of the file, hexadecimal. */
  readonly hash?: string
  /** In bytes. */
  readonly size?: number
  /** In epoch milliseconds. */
  readonly modifiedAt?: number
  /** How the file was read. A source with another recipe is cut again although its text is the same. */
  readonly recipe?: string
}

export interface IndexedSource {
  readonly source: string
  /** Number of its chunks. */
  readonly chunks: number
  readonly file: FileFacts
}

export interface FileDocument {
  readonly document: SourceDocument
  readonly file?: FileFacts
}

export type PutOutcome = 'added' | 'changed' | 'unchanged'

/** What became of a document. One that failed alone, because it is too large for the memory there is, does not stop the others. */
export type PutResult =
  | { readonly source: string; readonly outcome: PutOutcome }
  | { readonly source: string; readonly outcome: 'failed'; readonly error: Error }

/** A source is replaced, moved or removed as a whole or not at all, whenever the process ends. */
export interface IndexableStore extends DocumentStore {
  /** Puts each document in place of the one with the same source; yields what became of it once it is stored. The signal stops it in the middle. */
  putAll(
    documents: Iterable<FileDocument> | AsyncIterable<FileDocument>,
    signal?: AbortSignal,
    /** Told how much of a large document is done, 0 to 1. */
    onProgress?: (share: number) => void,
  ): AsyncIterable<PutResult>
  /** Gives a source another name. Returns false when there is none, or the other exists already. */
  move(from: string, to: string, file?: FileFacts): Promise<boolean>
  deleteAll(sources: readonly string[]): Promise<boolean[]>
  getSource(source: string): Promise<IndexedSource | undefined>
  getDocument(source: string): Promise<SourceDocument | undefined>
  /** All of them; what is written meanwhile may or may not be among them. */
  sources(): Iterable<IndexedSource>
  /** Those whose files had these bytes. */
  sourcesWithHash(fileHash: string): Promise<IndexedSource[]>
}

// Not from node:fs/promises: this way it is loaded when it is first needed, in the bundled command.

/** A source without text that keeps the base; it can never be found, and no file has such a name. */
const BASE_SOURCE = 'cria:base'

/** Absolute path; `undefined` when nothing has been indexed yet. */
export async function indexBase(store: Pick<IndexableStore, 'getDocument'>): Promise<string | undefined> {
  const base = (await store.getDocument(BASE_SOURCE))?.metadata?.['base']
  return typeof base === 'string' ? base : undefined
}

/** The base that was kept, as long as that folder exists; else, also after a project was moved, the wanted one, which is kept from now on. */
export async function keepBase(store: IndexableStore, wanted: string, dryRun: boolean): Promise<string> {
  const kept = await indexBase(store)
  if (kept !== undefined && (await isFolder(kept))) return kept
  const base = await promises.realpath(wanted)
  if (!dryRun) await store.append({ source: BASE_SOURCE, text: '', metadata: { base } })
  return base
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await promises.stat(path)).isDirectory()
  } catch {
    return false
  }
}

/** A source without text that keeps the paths. */
const PATHS_SOURCE = 'cria:paths'

/** Absolute paths and addresses that were indexed, as they were named; empty where nothing was, or by an older version. */
export async function indexedPaths(store: Pick<IndexableStore, 'getDocument'>): Promise<readonly string[]> {
  const paths = (await store.getDocument(PATHS_SOURCE))?.metadata?.['paths']
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : []
}

/** Adds paths to those that are kept, and forgets those that are gone. */
export async function keepPaths(
  store: Pick<IndexableStore, 'getDocument' | 'putAll'>,
  named: readonly string[],
  gone: readonly string[] = [],
): Promise<void> {
  const kept = await indexedPaths(store)
  const paths = [...new Set([...kept, ...named])].filter((path) => !gone.includes(path)).toSorted()
  if (JSON.stringify(paths) === JSON.stringify(kept)) return
  // Not `append`, which makes all vectors that are missing: that is done later, with progress.
  await Array.fromAsync(store.putAll([{ document: { source: PATHS_SOURCE, text: '', metadata: { paths } } }]))
}
