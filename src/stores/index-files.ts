/** Updates an index from files: reads only changed files, and removes deleted ones. */

import { stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ConfigurationError, CriaError } from '../core/error.ts'
import { chunkDocument } from './chunk/chunk-document.ts'
import { keepBase, keepPaths } from './ingest/indexable-store.ts'
import { isFromFile, isGone, pathOf, readChange, resolveNamed, wasNamed } from './ingest/changes.ts'
import type { Change, Comparison, NamedPaths } from './ingest/changes.ts'
import type { IndexableStore } from './ingest/indexable-store.ts'
import type { LoadLimits } from './load/load-file.ts'
import { walk } from './load/walk.ts'
import type { FoundFile, SkippedFile } from './load/walk.ts'
import type { SourceState } from './sqlite/documents.ts'
import type { FileDocument } from './sqlite/writer.ts'

export interface IndexOptions extends LoadLimits {
  /** Folder that `paths` are relative to; default: the current one. Sources are relative to the folder of the first run. */
  readonly base?: string
  /** Only reports the changes. Default false. */
  readonly dryRun?: boolean
  readonly onProgress?: (progress: IndexProgress) => void
}

export interface IndexProgress {
  /** Files processed; during the search for files, the files found so far. */
  readonly done: number
  /** Files in total; missing during the search for files. */
  readonly total?: number
  /** Bytes of the processed files, and of all files. */
  readonly bytes?: readonly [done: number, total: number]
  /** The next file. */
  readonly current?: string
  /** Progress within that file, 0 to 1, if it is a large one. */
  readonly share?: number
}

export interface IndexReport {
  /** Files and chunks that the index holds for these paths after the run. */
  readonly files: number
  readonly chunks: number
  readonly added: number
  readonly changed: number
  /** Files found again under another name: counted neither as added nor as removed. */
  readonly moved: number
  readonly removed: number
  readonly unchanged: number
  readonly skipped: readonly SkippedFile[]
  /** Notes on files read in this run: a guessed encoding, broken characters. Missing when there are none. */
  readonly notes?: readonly { readonly path: string; readonly note: string }[]
  /** Paths of this run that no longer exist, and the sources removed with them, which count as removed. Missing when there are none. */
  readonly gone?: readonly { readonly path: string; readonly removed: readonly string[] }[]
  readonly ms: number
}

/**
 * Indexes files and folders into a store.
 *
 * Compares a file by size and modification time, then by content. Removes files that were deleted from a folder or are now ignored, and paths
 * that were indexed before and no longer exist; files of other folders stay. A stopped or killed run leaves only whole files, old or new; the
 * next run continues. Unreadable files are skipped with a reason, see `loadDocuments`. A file that changes during reading is skipped and keeps
 * its old index entry.
 *
 * @throws CriaError `not_found` for a path that does not exist and was never indexed, or whose folder does not exist or cannot be read (such as
 * an unmounted drive); `aborted` when the signal is aborted; errors of the store.
 */
export async function indexFiles(
  store: IndexableStore,
  paths: readonly string[],
  options: IndexOptions = {},
): Promise<IndexReport> {
  const began = performance.now()
  if (!Array.isArray(paths) || paths.length === 0) throw new ConfigurationError('indexFiles needs at least one path.')
  const given = options.base ?? process.cwd()
  const named = await resolveNamed(store, paths, given)
  const base = await keepBase(store, given, options.dryRun ?? false)
  const run = new IndexRun(store, named, base, options)
  try {
    await run.find()
    await run.update()
    await run.removeGone()
    const paths = named.roots.map(({ path }) => path)
    const left = named.gone.map(({ path }) => resolve(given, path))
    if (options.dryRun !== true) await keepPaths(store, paths, left)
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
    throw new CriaError('aborted', 'Indexing was stopped. Files indexed so far are kept; the next run continues from there.', {
      cause: error,
    })
  }
  return run.report(performance.now() - began)
}

class IndexRun {
  readonly #store: IndexableStore
  readonly #named: NamedPaths
  readonly #goneSources: ReadonlySet<string>
  readonly #base: string
  readonly #options: IndexOptions
  readonly #found = new Map<string, FoundFile>()
  readonly #skipped: SkippedFile[] = []
  readonly #notes: { readonly path: string; readonly note: string }[] = []
  readonly #counts = { files: 0, chunks: 0, added: 0, changed: 0, moved: 0, removed: 0, unchanged: 0 }
  /** The last reported progress. */
  #latest: IndexProgress | undefined
  /** Earlier names of sources that were moved. */
  readonly #movedFrom = new Set<string>()

  constructor(store: IndexableStore, named: NamedPaths, base: string, options: IndexOptions) {
    this.#store = store
    this.#named = named
    this.#goneSources = new Set(named.gone.flatMap(({ sources }) => sources.map(({ source }) => source)))
    this.#base = base
    this.#options = options
  }

  async find(): Promise<void> {
    const { signal, onProgress } = this.#options
    for await (const found of walk(this.#named.roots, this.#base, signal)) {
      if ('skipped' in found) {
        this.#skipped.push(found.skipped)
        continue
      }
      this.#found.set(found.file.source, found.file)
      if (this.#found.size % 1000 === 1) onProgress?.({ done: this.#found.size, current: found.file.source })
    }
    for (const known of this.#knownBelow()) {
      if (!wasNamed(known) || this.#found.has(known.source) || this.#goneSources.has(known.source)) continue
      const file = await namedBefore(known, this.#base)
      if (file !== undefined) this.#found.set(known.source, file)
    }
  }

  /** Reads changed files and puts them into the store, one after the other. */
  async update(): Promise<void> {
    const outcomes = this.#store.putAll(this.#changedDocuments(), this.#options.signal, (share) => {
      if (this.#latest !== undefined) this.#options.onProgress?.({ ...this.#latest, share })
    })
    for await (const result of outcomes) {
      const { source } = result
      if (result.outcome === 'failed') await this.#noteFailure(source, result.error)
      const now = await this.#store.getSource(source)
      this.#count(now?.chunks ?? 0)
    }
    this.#options.signal?.throwIfAborted()
  }

  /** Removes known files of these folders that were not found in this run: deleted, or excluded by a rule. */
  async removeGone(): Promise<void> {
    const unreadable = this.#skipped
      .filter(({ path, reason }) => path.endsWith('/') && reason.startsWith('unreadable'))
      .map(({ path }) => path)
    const gone: string[] = []
    for (const known of this.#knownBelow()) {
      if (this.#found.has(known.source) || this.#movedFrom.has(known.source)) continue
      if (unreadable.some((folder) => known.source.startsWith(folder)) && !(await isGone(pathOf(known.source, this.#base))))
        continue
      gone.push(known.source)
      if (known.chunks > 0) this.#counts.removed++
      if (gone.length % 500 === 0) await this.#remove(gone.splice(0))
    }
    await this.#remove(gone)
  }

  report(ms: number): IndexReport {
    const left = ({ source, chunks }: SourceState): boolean =>
      chunks > 0 && !this.#found.has(source) && !this.#movedFrom.has(source)
    const gone = this.#named.gone.map(({ path, sources }) => ({
      path,
      removed: sources.filter(left).map(({ source }) => source),
    }))
    return {
      ...this.#counts,
      skipped: this.#skipped,
      ...(this.#notes.length === 0 ? {} : { notes: this.#notes }),
      ...(gone.length === 0 ? {} : { gone }),
      ms: Math.round(ms),
    }
  }

  /**
   * Applies at once the changes that need no text, and yields the others for the store. Ends early when stopped, so that files already read are
   * kept.
   */
  async *#changedDocuments(): AsyncGenerator<FileDocument> {
    const { signal, onProgress, dryRun = false } = this.#options
    const comparison: Comparison = {
      store: this.#store,
      base: this.#base,
      limits: this.#options,
      isTaken: (source) => this.#found.has(source) || this.#movedFrom.has(source),
      now: Date.now,
    }
    const total = [...this.#found.values()].reduce((sum, { size }) => sum + size, 0)
    let done = 0
    let bytes = 0
    for (const file of this.#found.values()) {
      if (signal?.aborted === true) return
      this.#latest = { done, total: this.#found.size, bytes: [bytes, total], current: file.source }
      onProgress?.(this.#latest)
      const change = await readChange(file, comparison).catch((error: unknown) => {
        if (signal?.aborted === true) return undefined
        throw error
      })
      if (change === undefined) return
      this.#note(change, file)
      if (!dryRun && (change.kind === 'put' || change.kind === 'touch')) {
        yield { document: change.document, file: change.file }
      } else {
        this.#count(chunksAfter(change))
        if (!dryRun && change.kind === 'move') await this.#store.move(change.known.source, file.source, change.file)
        if (change.kind === 'drop' && change.known !== undefined) await this.#remove([file.source])
      }
      done++
      bytes += file.size
      // Lets timers and signals run between two files.
      await setImmediate()
    }
    onProgress?.({ done, total: this.#found.size, bytes: [bytes, total] })
  }

  /** Counts a change before it is made, and records its note. */
  #note(change: Change, { source }: FoundFile): void {
    const { skipped, note, known } = change
    if (skipped !== undefined) this.#skipped.push({ path: source, reason: skipped })
    if (note !== undefined) this.#notes.push({ path: source, note })
    if (change.kind === 'move' && known !== undefined) this.#movedFrom.add(known.source)
    const outcome = outcomeOf(change)
    if (outcome !== undefined) this.#counts[outcome]++
  }

  /** Records the failure and keeps the file's index entry. */
  async #noteFailure(source: string, error: Error): Promise<void> {
    const known = await this.#store.getSource(source)
    if (known === undefined || known.chunks === 0) this.#counts.added--
    else this.#counts.changed--
    this.#skipped.push({ path: source, reason: error.message })
  }

  #count(chunks: number): void {
    if (chunks > 0) this.#counts.files++
    this.#counts.chunks += chunks
  }

  async #remove(sources: readonly string[]): Promise<void> {
    if (sources.length > 0 && this.#options.dryRun !== true) await this.#store.deleteAll(sources)
  }

  /** Known files in the folders of this run, and of deleted paths. */
  *#knownBelow(): Generator<SourceState> {
    const folders = this.#named.roots
      .filter(({ isFolder }) => isFolder)
      .map(({ path }) => (path.endsWith(sep) ? path : path + sep))
    for (const known of this.#store.sources()) {
      const path = pathOf(known.source, this.#base)
      if (this.#goneSources.has(known.source)) yield known
      else if (isFromFile(known) && folders.some((folder) => path.startsWith(folder))) yield known
    }
  }
}

/** Returns a file that an earlier run named and that lies in a folder of this run. */
async function namedBefore({ source }: SourceState, base: string): Promise<FoundFile | undefined> {
  const path = pathOf(source, base)
  const stats = await stat(path).catch(() => undefined)
  return stats?.isFile() === true ? { path, source, size: stats.size, mtimeMs: stats.mtimeMs, isNamed: true } : undefined
}

/** Classifies a change; `undefined` where the index has no text of the file, before or after. */
function outcomeOf({ kind, known, skipped }: Change): 'added' | 'changed' | 'moved' | 'removed' | 'unchanged' | undefined {
  const hadText = known !== undefined && known.chunks > 0
  if (kind === 'put' && skipped === undefined) return hadText ? 'changed' : 'added'
  if (!hadText) return undefined
  if (kind === 'move') return 'moved'
  return kind === 'put' || kind === 'drop' ? 'removed' : 'unchanged'
}

/** Returns the number of chunks after a change. */
function chunksAfter(change: Change): number {
  if (change.kind === 'put') return chunkDocument(change.document).length
  return change.kind === 'drop' ? 0 : (change.known?.chunks ?? 0)
}
