/** Configuration and store of a command: read, told about, brought up to date. */

import { loadConfig } from '../app/config.ts'
import type { LoadedConfig } from '../app/config.ts'
import { embeddingModelOnDemand, isDamagedStore, openStore, removeStore } from '../app/stores.ts'
import type { IndexReport } from '../app/stores.ts'
import type { HomePaths } from '../app/paths.ts'
import { chooseStore, requireStore, storeNames } from '../app/store-choice.ts'
import type { StoreChoice, StoreOptions } from '../app/store-choice.ts'
import { upkeep } from '../app/upkeep.ts'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import { indexWithProgress, tellChanges } from './index-progress.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'

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
  if (choice.documents !== undefined) {
    // Kept for these paths alone: nobody has to be asked before its vectors are made again.
    const embeddings = { model: config.embed, replace: true, config, env: io.env }
    const indexing = { dryRun: false, home: paths, embeddings }
    const { documents } = choice
    upkeep.derivedStores.add(choice.path)
    const index = (): Promise<IndexReport> => indexWithProgress(choice, documents, indexing, io)
    const report = await index().catch(async (failure: unknown) => {
      if (!isDamagedStore(failure)) {
        if (!(await canBeSearched(choice, failure))) throw failure
        return undefined
      }
      // Everything in it comes out of the documents.
      removeStore(choice)
      await note(io, 'the index of these documents was damaged: it is made again.')
      return index()
    })
    if (report === undefined) await note(io, 'the index of these documents cannot be written: it is searched as it is.')
    else await tellChanges(report, io)
    return { ...choice, exists: true }
  }
  if (!choice.exists && options.store === undefined && config.store === undefined) return undefined
  requireStore(choice, paths)
  return choice
}

/** Whether a store that could not be brought up to date, on a read-only or a full disk, can still be read. */
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
