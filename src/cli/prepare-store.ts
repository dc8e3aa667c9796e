/** Configuration and store of a command: read, told about, brought up to date. Shows how far indexing is, on standard error. */

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

/** Reads the configuration and tells what the user should know about it. */
export async function readConfig(io: Io): Promise<LoadedConfig> {
  const loaded = loadConfig(io)
  for (const text of loaded.notes) await note(io, text)
  return loaded
}

/**
 * The store that is meant, up to date where it is kept for paths; `undefined` when none was named and there is no default one.
 *
 * @throws ConfigurationError when a store or a path is named that is not there.
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
  // Kept for these paths alone: nobody has to be asked before its vectors are made again.
  const embeddings = { model: config.embed, replace: true, config, env: io.env }
  const index = (): Promise<IndexReport> => indexWithProgress(choice, documents, { dryRun: false, home: paths, embeddings }, io)
  const report = await index().catch(async (failure: unknown) => {
    if (isDamagedStore(failure)) {
      // Everything in it comes out of the documents.
      removeStore(choice)
      await note(io, 'the index of these documents was damaged: it is made again.')
      return index()
    }
    if (!(await canBeSearched(choice, failure))) throw failure
    await note(io, 'the index of these documents cannot be written: it is searched as it is.')
    return undefined
  })
  if (report !== undefined) await tellChanges(report, io)
  return { ...choice, exists: true }
}

/** Tells whether a store that could not be brought up to date, on a read-only or a full disk, can still be read. */
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

/** Of `prepareStore` that found none: the stores there are have to be named, or `otherwise`. */
export function noDefaultStore(
  paths: HomePaths,
  otherwise: { readonly message: string; readonly hint: string },
): ConfigurationError {
  const names = storeNames(paths)
  if (names.length === 0) return new ConfigurationError(otherwise.message, { hint: otherwise.hint })
  return new ConfigurationError(`No store was named and there is no default one. There are: ${names.join(', ')}.`, {
    hint: `Name one: --store ${names[0] ?? ''}, or say "store" in config.json.`,
  })
}

const AGAIN_MS = 500

interface Indexing extends Pick<IndexOptions, 'dryRun' | 'home' | 'pages'> {
  readonly embeddings: Omit<EmbeddingChoice, 'onProgress'>
}

/** Indexes files and pages, with a bar on a terminal and a line now and then elsewhere. */
export async function indexWithProgress(
  choice: StoreChoice,
  paths: readonly string[],
  { embeddings, ...indexing }: Indexing,
  io: Io,
): Promise<IndexReport> {
  const { signal, cwd } = io
  const progress = progressOn(io)
  let embedding: ProgressReporter | undefined
  // One large file may take long: meanwhile the bar stays, and a log goes on.
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

/** A file is indexed as a whole, so that no answer comes from half of it. */
function interruptedAt({ part = 0, current }: Partial<Progress> = {}): string {
  const kept = 'interrupted. What is indexed is kept; the same command goes on from there'
  return part > 0 && current !== undefined ? `${kept}, and begins ${shorten(current, 200)} anew.` : `${kept}.`
}

/** Says what has changed, when anything has, and why there is nothing, when there is nothing. */
async function tellChanges(report: IndexReport, io: Io): Promise<void> {
  const { files, added, changed, moved, removed, embeddings } = report
  if (added + changed + moved + removed > 0) await note(io, `indexed ${indexSummary(report)}.`)
  if (files > 0) await tellSkipped({ ...report, skipped: [] }, io)
  if (embeddings !== undefined && 'error' in embeddings)
    await note(io, `no vectors were made, words find the documents: ${embeddings.error.message}`)
  if (files > 0) return
  await tellSkipped(report, io)
  await note(io, 'there are no documents in what --docs names.')
}

const MOST_TOLD = 20

/** Tells the files that were left out, and what is worth telling of those that were read. */
export async function tellSkipped({ skipped, notes = [] }: Pick<IndexReport, 'skipped' | 'notes'>, io: Io): Promise<void> {
  for (const { path, note: noted } of notes.slice(0, MOST_TOLD)) await note(io, `${shorten(path, 200)}: ${noted}`)
  if (notes.length > MOST_TOLD) await note(io, `${notes.length - MOST_TOLD} more notes; --json lists them all.`)
  for (const { path, reason } of skipped.slice(0, MOST_TOLD)) await note(io, `skipped ${shorten(path, 200)}: ${reason}`)
  if (skipped.length > MOST_TOLD) await note(io, `skipped ${skipped.length - MOST_TOLD} more; --json lists them all.`)
}

export function indexSummary({ files, chunks, added, changed, moved, removed, unchanged, skipped }: IndexReport): string {
  const parts = [`${added} added`, `${changed} changed`, `${removed} removed`, `${unchanged} unchanged`]
  if (moved > 0) parts.push(`${moved} moved`)
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
  return `${plural(files, 'file')}, ${plural(chunks, 'chunk')}: ${parts.join(', ')}`
}
