/** The port of stores that files can be indexed into incrementally (`index-files.ts`), and what such a store keeps about the runs. */

// Not from node:fs/promises: this way it is loaded when it is first needed, in the bundled command.
import { promises } from 'node:fs'
import type { SqliteDocumentStore } from '../sqlite.ts'

/** A source is replaced, moved or removed as a whole or not at all, whenever the process ends. */
export type IndexableStore = Pick<
  SqliteDocumentStore,
  'append' | 'putAll' | 'move' | 'deleteAll' | 'getSource' | 'getDocument' | 'sources' | 'sourcesWithHash'
>

type KnownDocuments = Pick<IndexableStore, 'getDocument'>

/** A source without text that keeps the base; it can never be found, and no file has such a name. */
const BASE_SOURCE = 'cria:base'

/** Absolute path; `undefined` when nothing has been indexed yet. */
export async function indexBase(store: KnownDocuments): Promise<string | undefined> {
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
  const found = await promises.stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

/** A source without text that keeps the paths. */
const PATHS_SOURCE = 'cria:paths'

/** Absolute paths and addresses that were indexed, as they were named; empty where nothing was, or by an older version. */
export async function indexedPaths(store: KnownDocuments): Promise<readonly string[]> {
  const paths = (await store.getDocument(PATHS_SOURCE))?.metadata?.['paths']
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : []
}

/** Adds paths to those that are kept, and forgets those that are gone. */
export async function keepPaths(store: IndexableStore, named: readonly string[], gone: readonly string[] = []): Promise<void> {
  const kept = await indexedPaths(store)
  const paths = [...new Set([...kept, ...named])].filter((path) => !gone.includes(path)).toSorted()
  if (JSON.stringify(paths) === JSON.stringify(kept)) return
  // Not `append`, which makes all vectors that are missing: that is done later, with progress.
  await Array.fromAsync(store.putAll([{ document: { source: PATHS_SOURCE, text: '', metadata: { paths } } }]))
}
