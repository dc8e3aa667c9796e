/** Interface of stores that files can be indexed into incrementally (`index-files.ts`), and the data such a store keeps about the runs. */

// Not from node:fs/promises: this import is loaded on first use in the bundled command.
import { promises } from 'node:fs'
import type { SqliteDocumentStore } from '../sqlite.ts'

/** A source is replaced, moved or removed atomically, also when the process is killed. */
export type IndexableStore = Pick<
  SqliteDocumentStore,
  'append' | 'putAll' | 'move' | 'deleteAll' | 'getSource' | 'getDocument' | 'sources' | 'sourcesWithHash'
>

type KnownDocuments = Pick<IndexableStore, 'getDocument'>

/** Name of the source without text that keeps the base; no file has such a name, and no search finds it. */
const BASE_SOURCE = 'cria:base'

/** Returns an absolute path; `undefined` before the first run. */
export async function indexBase(store: KnownDocuments): Promise<string | undefined> {
  const base = (await store.getDocument(BASE_SOURCE))?.metadata?.['base']
  return typeof base === 'string' ? base : undefined
}

/** Returns the kept base while that folder exists; otherwise, as after a project was moved, keeps and returns the wanted one. */
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

/** Name of the source without text that keeps the paths. */
const PATHS_SOURCE = 'cria:paths'

/** Absolute paths and addresses as given to earlier runs; empty before the first run, or when an older version made the index. */
export async function indexedPaths(store: KnownDocuments): Promise<readonly string[]> {
  const paths = (await store.getDocument(PATHS_SOURCE))?.metadata?.['paths']
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : []
}

/** Adds paths to the kept ones, and removes the deleted ones. */
export async function keepPaths(store: IndexableStore, named: readonly string[], gone: readonly string[] = []): Promise<void> {
  const kept = await indexedPaths(store)
  const paths = [...new Set([...kept, ...named])].filter((path) => !gone.includes(path)).toSorted()
  if (JSON.stringify(paths) === JSON.stringify(kept)) return
  // Not `append`, which would also make all missing vectors: a later step does that, with progress.
  await Array.fromAsync(store.putAll([{ document: { source: PATHS_SOURCE, text: '', metadata: { paths } } }]))
}
