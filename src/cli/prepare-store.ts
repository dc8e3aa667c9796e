/** Reads the configuration and updates the store of a command. Shows notes and indexing progress on standard error. */

import { loadConfig } from '../app/config.ts'
import type { LoadedConfig } from '../app/config.ts'
import { embeddingModelOnDemand, indexPaths, isDamagedStore, openStore, removeStore } from '../app/stores.ts'
import type { EmbeddingChoice, IndexOptions, IndexReport } from '../app/stores.ts'
import type { HomePaths } from '../app/paths.ts'
import { chooseStore, requireStore, storeNames } from '../app/store-choice.ts'
import type { StoreChoice, StoreOptions } from '../app/store-choice.ts'
import { upkeep } from '../app/upkeep.ts'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import { defined } from '../util/check.ts'
import { plural, shorten } from './format.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { reportProgress } from './terminal/progress.ts'
import type { Progress, ProgressReporter } from './terminal/progress.ts'

/** Reads the configuration and prints its notes. */
export async function readConfig(io: Io): Promise<LoadedConfig> {
  const loaded = loadConfig(io)
  for (const text of loaded.notes) await note(io, text)
  return loaded
}

/**
 * Resolves the store that the options name, and updates it if it is derived from `--docs`; `undefined` without a named or default store.
 *
 * @throws ConfigurationError when a named store or path does not exist.
 */
export async function prepareStore(
  options: StoreOptions,
  { config, paths }: LoadedConfig,
  io: Io,
): Promise<StoreChoice | undefined> {
  const choice = {
    ...chooseStore(options, config, paths, io.cwd),
    embeddingModel: (held: string) => embeddingModelOnDemand(held, config, io.env),
  }
  const { documents } = choice
  if (documents === undefined) {
    if (!choice.exists && options.store === undefined && config.store === undefined) return undefined
    requireStore(choice, paths)
    return choice
  }
  upkeep.derivedStores.add(choice.path)
  // The store is derived from these paths alone, so its vectors may be replaced without asking.
  const embeddings = { model: config.embed, replace: true, config, env: io.env }
  const index = (): Promise<IndexReport> => indexWithProgress(choice, documents, { dryRun: false, home: paths, embeddings }, io)
  const report = await index().catch(async (failure: unknown) => {
    if (isDamagedStore(failure)) {
      // The store can be rebuilt from the documents.
      removeStore(choice)
      await note(io, 'the index of these documents was damaged: rebuilding it.')
      return index()
    }
    if (!(await canBeSearched(choice, failure))) throw failure
    await note(io, 'the index of these documents cannot be updated: searching it as it is.')
    return undefined
  })
  if (report !== undefined) await noteChanges(report, io)
  return { ...choice, exists: true }
}

/** Returns whether a store that could not be updated (read-only or full disk) can still be searched. */
async function canBeSearched(choice: StoreChoice, failure: unknown): Promise<boolean> {
  if (!choice.exists || !isCriaError(failure) || failure.code !== 'store_failed') return false
  try {
    const store = await openStore(choice)
    const { chunks } = await store.stats()
    await store.close()
    return chunks > 0
  } catch {
    return false
  }
}

/** Returns the error for a command without a store: it lists the existing stores, or is `otherwise` if there are none. */
export function noDefaultStore(
  paths: HomePaths,
  otherwise: { readonly message: string; readonly hint: string },
): ConfigurationError {
  const names = storeNames(paths)
  if (names.length === 0) return new ConfigurationError(otherwise.message, { hint: otherwise.hint })
  return new ConfigurationError(`No store was named and there is no default store. Stores: ${names.join(', ')}.`, {
    hint: `Name one: --store ${names[0] ?? ''}, or set "store" in config.json.`,
  })
}

const AGAIN_MS = 500

interface Indexing extends Pick<IndexOptions, 'dryRun' | 'home' | 'pages'> {
  readonly embeddings: Omit<EmbeddingChoice, 'onProgress'>
}

/** Indexes files and pages, with a progress bar on a terminal and occasional lines elsewhere. */
export async function indexWithProgress(
  choice: StoreChoice,
  paths: readonly string[],
  { embeddings, ...indexing }: Indexing,
  io: Io,
): Promise<IndexReport> {
  const { signal, cwd } = io
  const progress = progressOn(io)
  let embedding: ProgressReporter | undefined
  // One large file may take long: meanwhile the progress is shown again.
  let latest: Progress | undefined
  const again = setInterval(() => {
    if (latest !== undefined) progress.show(latest)
  }, AGAIN_MS)
  try {
    return await indexPaths(choice, paths, {
      ...indexing,
      cwd,
      signal,
      onProgress: ({ done, total, current, share }) => {
        const label = total === undefined ? 'Looking' : 'Indexing'
        latest = { label, done, unit: 'files', ...defined({ total, current, part: share }) }
        progress.show(latest)
      },
      embeddings: {
        ...embeddings,
        onProgress: ({ done, total }) => {
          latest = undefined
          progress.clear()
          embedding ??= progressOn(io)
          embedding.show({ label: 'Embedding', done, total, unit: 'chunks' })
        },
      },
    })
  } finally {
    clearInterval(again)
    progress.clear()
    embedding?.clear()
    if (signal.aborted && !indexing.dryRun) await note(io, interruptedAt(latest))
  }
}

/** Shows progress on standard error. */
export function progressOn({ stderr }: Io): ProgressReporter {
  return reportProgress(stderr)
}

/** Returns the note after an interruption. Files are indexed as a whole: a file in progress starts over. */
function interruptedAt({ part = 0, current }: Partial<Progress> = {}): string {
  const kept = 'interrupted. Indexed files are kept; the same command continues from there'
  return part > 0 && current !== undefined ? `${kept}, and starts ${shorten(current, 200)} over.` : `${kept}.`
}

/** Prints changes of the index if there are any, and the reasons if the index is empty. */
async function noteChanges(report: IndexReport, io: Io): Promise<void> {
  const { files, added, changed, moved, removed, skipped, embeddings } = report
  const names = files > 0 && skipped.length > 0 ? ' "cria index <path…> --dry-run" names the skipped files.' : ''
  if (added + changed + moved + removed > 0) await note(io, `indexed ${indexSummary(report)}.${names}`)
  if (files > 0) await noteSkipped({ ...report, skipped: [] }, io)
  if (embeddings !== undefined && 'error' in embeddings)
    await note(io, `no vectors were computed, so search uses words only: ${embeddings.error.message}`)
  if (files > 0) return
  await noteSkipped(report, io)
  await note(io, 'the paths of --docs contain no documents.')
}

const MOST_NOTED = 20

/** Prints skipped files with reasons, and notes about files that were read. */
export async function noteSkipped({ skipped, notes = [] }: Pick<IndexReport, 'skipped' | 'notes'>, io: Io): Promise<void> {
  for (const { path, note: noted } of notes.slice(0, MOST_NOTED)) await note(io, `${shorten(path, 200)}: ${noted}`)
  if (notes.length > MOST_NOTED) await note(io, `${notes.length - MOST_NOTED} more notes; --json lists them all.`)
  for (const { path, reason } of skipped.slice(0, MOST_NOTED)) await note(io, `skipped ${shorten(path, 200)}: ${reason}`)
  if (skipped.length > MOST_NOTED) await note(io, `skipped ${skipped.length - MOST_NOTED} more; --json lists them all.`)
}

/** Returns the totals and the counts above zero: `2 files, 5 chunks: 1 added, 1 unchanged`. */
export function indexSummary({ files, chunks, added, changed, moved, removed, unchanged, skipped }: IndexReport): string {
  const counts = { added, changed, removed, unchanged, moved, skipped: skipped.length }
  const parts = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []))
  const total = `${plural(files, 'file')}, ${plural(chunks, 'chunk')}`
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`
}
