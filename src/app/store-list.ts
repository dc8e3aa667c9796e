/** Lists the stores of a home, and reads what is in one. */

import { statSync } from 'node:fs'
import { toCriaError } from '../core/error.ts'
import type { SqliteDocumentStore } from '../stores/sqlite.ts'
import type { HomePaths } from './paths.ts'
import { storePath } from './paths.ts'
import { storeNames } from './store-choice.ts'
import type { StoreChoice } from './store-choice.ts'

export interface StoreFacts {
  readonly name: string
  /** The file. */
  readonly path: string
  readonly bytes: number
  /** When something in it changed last, epoch milliseconds. */
  readonly changedAt: number
  /** Documents with text. */
  readonly files: number
  readonly chunks: number
  /** Absolute paths and addresses that were indexed into it. */
  readonly documents: readonly string[]
  /** Model of its vectors; `null` where it holds none. */
  readonly embeddings: string | null
  /** Why it cannot be read; then there are no counts. */
  readonly problem?: string
}

export interface StoreSource {
  readonly source: string
  readonly chunks: number
}

/** Stores of this home, also those that are kept for the paths of `--docs`, sorted by name. */
export async function listStores(paths: HomePaths): Promise<readonly StoreFacts[]> {
  const facts: StoreFacts[] = []
  for (const name of storeNames(paths, { derived: true }))
    facts.push((await readStore({ name, path: storePath(paths, name) })).facts)
  return facts
}

/** One store with its documents, sorted by name. A store that cannot be read says so in `facts.problem`. */
export async function readStore(
  choice: Pick<StoreChoice, 'name' | 'path'>,
): Promise<{ readonly facts: StoreFacts; readonly sources: readonly StoreSource[] }> {
  const { name, path } = choice
  const { size, mtimeMs } = statSync(path)
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const bytes = size + (wal?.size ?? 0)
  const known = { name, path, bytes, changedAt: Math.round(Math.max(mtimeMs, wal?.size === 0 ? 0 : (wal?.mtimeMs ?? 0))) }
  try {
    return await withStore(choice, async (store) => {
      const sources = [...store.sources()]
        .filter(({ chunks }) => chunks > 0)
        .map(({ source, chunks }) => ({ source, chunks }))
        .toSorted((a, b) => (a.source < b.source ? -1 : 1))
      const { chunks } = await store.stats()
      const documents = await documentsOf(store)
      return {
        facts: { ...known, files: sources.length, chunks, documents, embeddings: store.embeddings?.model ?? null },
        sources,
      }
    })
  } catch (thrown) {
    const problem = toCriaError(thrown).message
    return { facts: { ...known, files: 0, chunks: 0, documents: [], embeddings: null, problem }, sources: [] }
  }
}

/** Absolute paths and addresses that were indexed into a store; empty where that cannot be read. */
export async function storeDocuments(choice: Pick<StoreChoice, 'name' | 'path'>): Promise<readonly string[]> {
  try {
    return await withStore(choice, documentsOf)
  } catch {
    return []
  }
}

/** Opens for reading alone: looking changes nothing, not even the version of a file. */
async function withStore<T>(
  { name, path }: Pick<StoreChoice, 'name' | 'path'>,
  read: (store: SqliteDocumentStore) => Promise<T>,
): Promise<T> {
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  const store = await SqliteDocumentStore.open({ name, path, readOnly: true })
  try {
    return await read(store)
  } finally {
    await store.close()
  }
}

/** What an older version indexed is told by the folder that its sources are relative to. */
async function documentsOf(store: SqliteDocumentStore): Promise<readonly string[]> {
  const { indexBase, indexedPaths } = await import('../stores/ingest/indexable-store.ts')
  const paths = await indexedPaths(store)
  if (paths.length > 0) return paths
  const base = await indexBase(store)
  return base === undefined ? [] : [base]
}
