/** Opens document stores and fills them with files. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddingModel } from '../core/embedding.ts'
import { ConfigurationError, CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { ChunkOptions } from '../stores/chunk/chunk-document.ts'
import type { IndexProgress, IndexReport as FilesReport } from '../stores/index-files.ts'
import type { EmbedProgress } from '../stores/sqlite/embeddings.ts'
import type { EmbedReport, SqliteDocumentStore, SqliteDocumentStoreOptions } from '../stores/sqlite.ts'
import { isDamaged } from '../util/sqlite/failure.ts'
import type { CriaConfig } from './config-schema.ts'
import type { PagesOptions } from './index-pages.ts'
import { makeHomeFolder } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import type { StoreChoice } from './store-choice.ts'
import { defined } from '../util/check.ts'

export type { EmbedProgress, IndexProgress }

export interface IndexReport extends FilesReport {
  readonly store: string
  /** Of stores with vectors: what has become of them. */
  readonly embeddings?: EmbedReport | { readonly model: string; readonly error: ErrorInfo }
}

/** Which vectors an index is to have. */
export interface EmbeddingChoice {
  /** Absent: those of the model that the store has already, if any. */
  readonly model: string | undefined
  /** Vectors of another model are made again. */
  readonly replace: boolean
  readonly config: CriaConfig
  readonly env: Surroundings['env']
  readonly onProgress: (progress: EmbedProgress) => void
}

export interface IndexOptions {
  readonly home: HomePaths
  /** Folder that paths are relative to. */
  readonly cwd: string
  /** Only tell what would be done. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: IndexProgress) => void
  /** How far links of addresses are followed; see `PagesOptions`. */
  readonly pages?: Pick<PagesOptions, 'site' | 'maxPages'>
  readonly embeddings?: EmbeddingChoice
}

/**
 * Opens a store that is there; where it holds vectors, with the model that made them.
 *
 * @throws CriaError `store_failed` that names the file and what to do, also for a store of a newer version.
 */
export async function openStore({ name, path, embeddingModel }: StoreChoice): Promise<SqliteDocumentStore> {
  const options = { path, name, ...(embeddingModel === undefined ? {} : { embeddingModel }) }
  try {
    return await openFile(options)
  } catch (thrown) {
    // On a read-only file system it can still be searched, as long as nothing in it has to be brought up to date.
    const opened = await openFile({ ...options, readOnly: true }).catch(() => undefined)
    if (opened !== undefined) return opened
    throw thrown
  }
}

/**
 * Brings a store up to date with files and folders; it is made when it is not there. Without paths only its vectors are made. An embedding
 * model that fails is told in the report: the documents are there, and words find them.
 *
 * @throws CriaError
 */
export async function indexPaths(choice: StoreChoice, paths: readonly string[], options: IndexOptions): Promise<IndexReport> {
  const { home, cwd, dryRun, signal, onProgress, embeddings } = options
  // What is only tried out leaves nothing behind.
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
    const ofFiles = files.length > 0 ? await indexFiles(store, files, { base: cwd, dryRun, signal, onProgress }) : undefined
    const ofPages =
      addresses.length > 0
        ? await (await import('./index-pages.ts')).indexPages(store, addresses, { ...options.pages, dryRun, signal, onProgress })
        : undefined
    const report =
      ofFiles !== undefined && ofPages !== undefined ? sumOf(ofFiles, ofPages) : (ofFiles ?? ofPages ?? (await asItIs(store)))
    const made = embeddings === undefined || dryRun || !store.embedsQueries ? undefined : await embed(store, embeddings, signal)
    return { store: choice.name, ...report, ...(made === undefined ? {} : { embeddings: made }) }
  } finally {
    await store.close()
  }
}

/** Tells whether a path is an address of the web. */
export function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

async function embeddingOptions({ model, replace, config, env }: EmbeddingChoice): Promise<Partial<SqliteDocumentStoreOptions>> {
  if (model === undefined) return { embeddingModel: (held) => embeddingModelOnDemand(held, config, env) }
  return { embeddingModel: await openEmbeddingModel(model, config, env), replaceEmbeddings: replace }
}

/** @throws ConfigurationError when there is no such provider, or it has no embeddings. */
export async function openEmbeddingModel(ref: string, config: CriaConfig, env: Surroundings['env']): Promise<EmbeddingModel> {
  const [{ createEmbeddingModel }, { providerOptions }] = await Promise.all([
    import('../providers/embedding/create.ts'),
    import('./open-model.ts'),
  ])
  return createEmbeddingModel(ref, { env, ...providerOptions(ref.slice(0, ref.indexOf('/')), config, env) })
}

/** The same, opened when it is first asked; what is wrong with it is found out then. */
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
      throw new CriaError('aborted', 'Embedding was stopped. What was done is kept; the next run goes on from there.', {
        cause: error,
      })
    }
    return { model: model ?? store.embeddings?.model ?? '', error: toCriaError(error).toJSON() }
  }
}

/** One report of files and pages. */
function sumOf(files: FilesReport, pages: FilesReport): FilesReport {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, files[name] + pages[name]]))
  return { ...files, ...counts, skipped: [...files.skipped, ...pages.skipped] }
}

const COUNTS = ['files', 'chunks', 'added', 'changed', 'moved', 'removed', 'unchanged', 'ms'] as const

/** The report of a run that looked at no files. */
async function asItIs(store: SqliteDocumentStore): Promise<FilesReport> {
  const files = Iterator.from(store.sources()).reduce((sum, { chunks }) => (chunks > 0 ? sum + 1 : sum), 0)
  const { chunks } = await store.stats()
  return { files, chunks, added: 0, changed: 0, moved: 0, removed: 0, unchanged: files, skipped: [], ms: 0 }
}

/** The folder that the sources of a store are relative to; `undefined` where they are no files. */
export async function sourceBase(store: SqliteDocumentStore): Promise<string | undefined> {
  const { indexBase } = await import('../stores/ingest/indexable-store.ts')
  return indexBase(store)
}

/** The file of a store cannot be read, or a part of it. */
export function isDamagedStore(failure: unknown): boolean {
  return isCriaError(failure) && failure.code === 'store_failed' && isDamaged(failure)
}

/** Removes the file of a store that can be made again, where it is damaged; says whether it was. */
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

/** Removes the file of a store, with what SQLite keeps beside it. */
export function removeStore({ path }: Pick<StoreChoice, 'path'>): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

async function openFile(options: SqliteDocumentStoreOptions): Promise<SqliteDocumentStore> {
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  try {
    return await SqliteDocumentStore.open(options)
  } catch (thrown) {
    // Nobody named this file on the command line: that it cannot be used is a failure, no wrong usage.
    if (thrown instanceof ConfigurationError) {
      const { hint, details } = thrown
      throw new CriaError('store_failed', thrown.message, {
        ...defined({ hint, details }),
        cause: thrown,
      })
    }
    throw thrown
  }
}

export interface TemporaryStore extends AsyncDisposable {
  readonly store: SqliteDocumentStore
}

/** A store in a folder of its own that is gone with it: for measurements, so that they meet what users meet. */
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
