/** Chooses a store: by name, by the paths of its documents, or the default. Lists the stores of a home and their documents. */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { EmbeddingModel } from '../core/retrieval-models.ts'
import { ConfigurationError, toCriaError } from '../core/error.ts'
import type { SqliteDocumentStore } from '../stores/sqlite.ts'
import { sha256 } from '../util/hash.ts'
import { nearest } from '../util/nearest.ts'
import type { CriaConfig } from './config-schema.ts'
import { homeNames, reason, STORE_NAME, storePath } from './paths.ts'
import type { HomePaths } from './paths.ts'

export interface StoreChoice {
  readonly name: string
  /** Path of the file. */
  readonly path: string
  /** Real paths of the documents of a store made for `--docs`; else `undefined`. */
  readonly documents: readonly string[] | undefined
  /** The file exists. */
  readonly exists: boolean
  /** Returns the embedding model for the vectors of a store, given its name in the store. */
  readonly embeddingModel?: (held: string) => EmbeddingModel
}

export interface StoreOptions {
  readonly store?: string | undefined
  readonly docs?: readonly string[] | undefined
}

const DEFAULT_STORE = 'default'

/**
 * @throws ConfigurationError when both options are given, a path does not exist, or the name is not allowed for a store.
 */
export function chooseStore(options: StoreOptions, config: CriaConfig, paths: HomePaths, cwd: string): StoreChoice {
  const { store, docs = [] } = options
  if (store !== undefined && docs.length > 0) {
    throw new ConfigurationError('--store and --docs exclude each other: --docs has a store of its own for its paths.')
  }
  if (docs.length > 0) return storeForDocuments(realPaths(docs, cwd), paths)
  return named(store ?? config.store ?? DEFAULT_STORE, paths)
}

/** The same set of paths, in any order and spelling, yields the same store. */
function storeForDocuments(documents: readonly string[], paths: HomePaths): StoreChoice {
  return { ...named(`docs-${sha256(JSON.stringify(documents)).slice(0, 16)}`, paths), documents }
}

/** Returns real paths, sorted, without duplicates. @throws ConfigurationError that names the first path that does not exist. */
export function realPaths(given: readonly string[], cwd: string): readonly string[] {
  const real = given.map((path) => {
    if (path.includes('\0')) throw new ConfigurationError(`A path cannot hold a NUL byte: ${JSON.stringify(path)}.`)
    try {
      return realpathSync(resolve(cwd, path))
    } catch (cause) {
      const why =
        cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
          ? 'does not exist'
          : `cannot be read: ${reason(cause)}`
      throw new ConfigurationError(`The path ${path} ${why}.`, { cause })
    }
  })
  return [...new Set(real)].toSorted()
}

/**
 * Returns the names of the stores of this home, sorted.
 *
 * @param options.derived includes the stores made for the paths of `--docs`; default false.
 */
export function storeNames(paths: HomePaths, { derived = false }: { readonly derived?: boolean } = {}): readonly string[] {
  return homeNames(paths.stores, '.db').filter((name) => STORE_NAME.test(name) && (derived || !isDerived(name)))
}

/** Returns whether a store was made for the paths of `--docs`. */
export function isDerived(name: string): boolean {
  return /^docs-[0-9a-f]{16}$/.test(name)
}

/**
 * @param hint what to do about it; default: make the store.
 * @throws ConfigurationError that names the existing stores, when this store is not among them.
 */
export function requireStore(
  choice: StoreChoice,
  paths: HomePaths,
  hint = `Make it with: cria index <path…> --store ${choice.name}`,
): void {
  if (choice.exists) return
  const names = storeNames(paths)
  const close = nearest(choice.name, names)
  const others = names.length === 0 ? 'There are none yet.' : `There are: ${names.join(', ')}.`
  throw new ConfigurationError(
    `There is no store ${JSON.stringify(choice.name)}.${close === undefined ? '' : ` Did you mean ${JSON.stringify(close)}?`} ${others}`,
    { hint },
  )
}

function named(name: string, paths: HomePaths): StoreChoice {
  const path = storePath(paths, name)
  return { name, path, documents: undefined, exists: existsSync(path) }
}

export interface StoreFacts {
  readonly name: string
  /** Path of the file. */
  readonly path: string
  readonly bytes: number
  /** Time of the last change, epoch milliseconds. */
  readonly changedAt: number
  /** Documents with text. */
  readonly files: number
  readonly chunks: number
  /** Indexed absolute paths and addresses. */
  readonly documents: readonly string[]
  /** Model of the vectors; `null` for a store without vectors. */
  readonly embeddings: string | null
  /** The reason why the store cannot be read; all counts are then 0. */
  readonly problem?: string
}

export interface StoreSource {
  readonly source: string
  readonly chunks: number
}

/** Returns all stores of this home, those made for `--docs` included, sorted by name. */
export async function listStores(paths: HomePaths): Promise<readonly StoreFacts[]> {
  const facts: StoreFacts[] = []
  for (const name of storeNames(paths, { derived: true }))
    facts.push((await readStore({ name, path: storePath(paths, name) })).facts)
  return facts
}

/** Reads one store and its documents, sorted by name. `facts.problem` says why a store cannot be read. */
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
        .flatMap(({ source, chunks }) => (chunks > 0 ? { source, chunks } : []))
        .toSorted((a, b) => (a.source < b.source ? -1 : 1))
      const { chunks } = await store.stats()
      const embeddings = store.embeddings?.model ?? null
      return { facts: { ...known, files: sources.length, chunks, documents: await documentsOf(store), embeddings }, sources }
    })
  } catch (thrown) {
    const problem = toCriaError(thrown).message
    return { facts: { ...known, files: 0, chunks: 0, documents: [], embeddings: null, problem }, sources: [] }
  }
}

/** Returns the indexed absolute paths and addresses of a store; an empty list where it cannot be read. */
export async function storeDocuments(choice: Pick<StoreChoice, 'name' | 'path'>): Promise<readonly string[]> {
  try {
    return await withStore(choice, documentsOf)
  } catch {
    return []
  }
}

/** Opens read-only, so that nothing is changed, not even the schema version of the file. */
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

/** Older versions stored no paths; for their stores, returns the folder that sources are relative to. */
async function documentsOf(store: SqliteDocumentStore): Promise<readonly string[]> {
  const { indexBase, indexedPaths } = await import('../stores/ingest/indexable-store.ts')
  const paths = await indexedPaths(store)
  if (paths.length > 0) return paths
  const base = await indexBase(store)
  return base === undefined ? [] : [base]
}
