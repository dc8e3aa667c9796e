/**
 * What an index keeps about itself: the folder that its sources are relative to, chosen once, so that a file has the same name from wherever
 * it is indexed; and the paths that were named to it.
 */

// Not from node:fs/promises: this way it is loaded when it is first needed, in the bundled command.
import { promises } from 'node:fs'
import type { IndexableStore } from './indexable-store.ts'

/** A source without text that keeps the base; it can never be found, and no file has such a name. */
const BASE_SOURCE = 'cria:base'

/** A source without text that keeps the paths. */
const PATHS_SOURCE = 'cria:paths'

/** Absolute paths and addresses that were indexed, as they were named; empty where nothing was, or by an older version. */
export async function indexedPaths(store: Pick<IndexableStore, 'getDocument'>): Promise<readonly string[]> {
  const paths = (await store.getDocument(PATHS_SOURCE))?.metadata?.['paths']
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : []
}

/** Adds paths to those that are kept, and forgets those that are gone. */
export async function keepPaths(
  store: Pick<IndexableStore, 'getDocument' | 'append'>,
  named: readonly string[],
  gone: readonly string[] = [],
): Promise<void> {
  const kept = await indexedPaths(store)
  const paths = [...new Set([...kept, ...named])].filter((path) => !gone.includes(path)).toSorted()
  if (JSON.stringify(paths) !== JSON.stringify(kept)) await store.append({ source: PATHS_SOURCE, text: '', metadata: { paths } })
}

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
