/** Opens document stores and indexes files into them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddingModel } from '../core/retrieval-models.ts'
import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { ChunkOptions } from '../stores/chunk/chunk-document.ts'
import type { IndexProgress, IndexReport as FilesReport } from '../stores/index-files.ts'
import type { EmbedProgress } from '../stores/sqlite/embeddings.ts'
import type { EmbedReport, SqliteDocumentStore, SqliteDocumentStoreOptions } from '../stores/sqlite.ts'
import { isDamaged } from '../util/sqlite/file-kind.ts'
import type { CriaConfig } from './config-schema.ts'
import type { PagesOptions } from './index-pages.ts'
import { asFailure, makeHomeFolder } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import type { StoreChoice } from './store-choice.ts'

export type { EmbedProgress, IndexProgress }

export interface IndexReport extends FilesReport {
  readonly store: string
  /** Only for stores with vectors: the result of embedding. */
  readonly embeddings?: EmbedReport | { readonly model: string; readonly error: ErrorInfo }
}

/** The embeddings that an index is to have. */
export interface EmbeddingChoice {
  /** `undefined`: the model that the store already uses, if any. */
  readonly model: string | undefined
  /** Replaces vectors of another model. */
  readonly replace: boolean
  readonly config: CriaConfig
  readonly env: Surroundings['env']
  readonly onProgress: (progress: EmbedProgress) => void
}

export interface IndexOptions {
  readonly home: HomePaths
  /** Base folder of relative paths. */
  readonly cwd: string
  /** Reports the changes without making them. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: IndexProgress) => void
  /** Limits for following links of addresses; see `PagesOptions`. */
  readonly pages?: Pick<PagesOptions, 'site' | 'maxPages'>
  readonly embeddings?: EmbeddingChoice
}

/**
 * Opens an existing store; if it has vectors, with their embedding model.
 *
 * @throws CriaError `store_failed` that names the file and the remedy, also for a store of a newer version.
 */
export async function openStore({ name, path, embeddingModel }: StoreChoice): Promise<SqliteDocumentStore> {
  const options = { path, name, ...(embeddingModel === undefined ? {} : { embeddingModel }) }
  try {
    return await openFile(options)
  } catch (thrown) {
    // On a read-only file system the store can still be searched, unless its schema or its index has to be upgraded.
    const opened = await openFile({ ...options, readOnly: true }).catch(() => undefined)
    if (opened?.canBeSearched === true) return opened
    await opened?.close()
    throw thrown
  }
}

/**
 * Updates a store with files and folders; creates it where it is missing. Without paths, only updates its vectors. A failure of the embedding
 * model is part of the report: the documents are stored and can be found by words.
 *
 * @throws CriaError
 */
export async function indexPaths(choice: StoreChoice, paths: readonly string[], options: IndexOptions): Promise<IndexReport> {
  const { home, cwd, dryRun, signal, onProgress, embeddings } = options
  // A dry run creates no file.
  const isTrial = dryRun && !choice.exists
  if (!isTrial) makeHomeFolder(home, home.stores)
  const [{ indexFiles }, store] = await Promise.all([
    import('../stores/index-files.ts'),
    openFile({
      path: isTrial ? ':memory:' : choice.path,
      name: choice.name,
      ...(embeddings === undefined ? {} : await embeddingOptions(embeddings)),
    }),
  ])
  try {
    const addresses = paths.filter(isAddress)
    const files = paths.filter((path) => !isAddress(path))
    const work = { dryRun, signal, onProgress }
    const reports: FilesReport[] = []
    if (files.length > 0) reports.push(await indexFiles(store, files, { base: cwd, ...work }))
    if (addresses.length > 0) {
      const { indexPages } = await import('./index-pages.ts')
      reports.push(await indexPages(store, addresses, { ...options.pages, ...work }))
    }
    if (reports.length === 0) reports.push(await asItIs(store))
    const report = reports.reduce(sumOf)
    const made = embeddings === undefined || dryRun || !store.embedsQueries ? undefined : await embed(store, embeddings, signal)
    return { store: choice.name, ...report, ...(made === undefined ? {} : { embeddings: made }) }
  } finally {
    await store.close()
  }
}

/** Reports whether a path is a web address. */
export function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

async function embeddingOptions({ model, replace, config, env }: EmbeddingChoice): Promise<Partial<SqliteDocumentStoreOptions>> {
  if (model === undefined) return { embeddingModel: (held) => embeddingModelOnDemand(held, config, env) }
  return { embeddingModel: await openEmbeddingModel(model, config, env), replaceEmbeddings: replace }
}

/** @throws ConfigurationError when the provider is unknown, or offers no embeddings. */
async function openEmbeddingModel(ref: string, config: CriaConfig, env: Surroundings['env']): Promise<EmbeddingModel> {
  const [{ createEmbeddingModel }, { providerOptions }] = await Promise.all([
    import('../providers/embedding/create.ts'),
    import('./open-model.ts'),
  ])
  return createEmbeddingModel(ref, { env, ...providerOptions(ref.slice(0, ref.indexOf('/')), config, env) })
}

/** As `openEmbeddingModel`, but opened at the first use; errors appear then. */
export function embeddingModelOnDemand(ref: string, config: CriaConfig, env: Surroundings['env']): EmbeddingModel {
  let opened: Promise<EmbeddingModel> | undefined
  return {
    ref,
    async embed(texts, options) {
      opened ??= openEmbeddingModel(ref, config, env)
      return (await opened).embed(texts, options)
    },
  }
}

async function embed(
  store: SqliteDocumentStore,
  { onProgress, model }: EmbeddingChoice,
  signal: AbortSignal,
): Promise<NonNullable<IndexReport['embeddings']>> {
  try {
    return await store.embed({ signal, onProgress })
  } catch (error) {
    if (signal.aborted) {
      throw new CriaError('aborted', 'Embedding was stopped. What was done is kept; the next run continues from there.', {
        cause: error,
      })
    }
    return { model: model ?? store.embeddings?.model ?? '', error: toCriaError(error).toJSON() }
  }
}

/** Adds up the reports of files and pages. */
function sumOf(files: FilesReport, pages: FilesReport): FilesReport {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, files[name] + pages[name]]))
  return { ...files, ...counts, skipped: [...files.skipped, ...pages.skipped] }
}

const COUNTS = ['files', 'chunks', 'added', 'changed', 'moved', 'removed', 'unchanged', 'ms'] as const

/** Returns the report of a run without files. */
async function asItIs(store: SqliteDocumentStore): Promise<FilesReport> {
  const files = Iterator.from(store.sources()).reduce((sum, { chunks }) => (chunks > 0 ? sum + 1 : sum), 0)
  const { chunks } = await store.stats()
  return { files, chunks, added: 0, changed: 0, moved: 0, removed: 0, unchanged: files, skipped: [], ms: 0 }
}

/** Returns the folder that the sources of a store are relative to; `undefined` where the sources are not files. */
export async function sourceBase(store: SqliteDocumentStore): Promise<string | undefined> {
  const { indexBase } = await import('../stores/ingest/indexable-store.ts')
  return indexBase(store)
}

/** Reports whether the failure means that the file of a store is damaged. */
export function isDamagedStore(failure: unknown): boolean {
  return isCriaError(failure) && failure.code === 'store_failed' && isDamaged(failure)
}

/** Removes the file of a store if it is damaged; reports whether it was. Only for stores that can be rebuilt. */
export async function removeIfDamaged(path: string): Promise<boolean> {
  const { DatabaseSync } = await import('node:sqlite')
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    if (database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok') return false
  } catch (failure) {
    if (!isDamaged(failure)) return false
  }
  removeStore({ path })
  return true
}

/** Removes the file of a store and the files that SQLite keeps beside it. */
export function removeStore({ path }: Pick<StoreChoice, 'path'>): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

async function openFile(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  try {
    return await SqliteDocumentStore.open(options)
  } catch (thrown) {
    throw asFailure(thrown, 'store_failed')
  }
}

export interface TemporaryStore extends AsyncDisposable {
  readonly store: SqliteDocumentStore
}

/** Opens a store in a folder that is removed on close: measurements use the same kind of store as users. */
export async function openTemporaryStore(options: { readonly chunk?: ChunkOptions } = {}): Promise<TemporaryStore> {
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  const folder = mkdtempSync(join(tmpdir(), 'cria-eval-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const store = await SqliteDocumentStore.open({ ...options, path: join(folder, 'store.db'), name: 'eval' })
    return {
      store,
      async [Symbol.asyncDispose]() {
        await store.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}
