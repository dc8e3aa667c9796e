/** Opens document stores and fills them with files. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { ChunkOptions } from '../stores/chunk/chunk-document.ts'
import type { IndexProgress, IndexReport as FilesReport } from '../stores/index-files.ts'
import type { SqliteDocumentStore } from '../stores/sqlite.ts'
import { makeHomeFolder } from './paths.ts'
import type { HomePaths } from './paths.ts'
import type { StoreChoice } from './store-choice.ts'

export type { IndexProgress }

export interface IndexReport extends FilesReport {
  readonly store: string
}

export interface IndexOptions {
  readonly home: HomePaths
  /** Folder that paths are relative to. */
  readonly cwd: string
  /** Only tell what would be done. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: IndexProgress) => void
}

/**
 * Opens a store that is there.
 *
 * @throws CriaError `store_failed` that names the file and what to do, also for a store of a newer version.
 */
export async function openStore({ name, path }: StoreChoice): Promise<SqliteDocumentStore> {
  try {
    return await openFile({ path, name })
  } catch (thrown) {
    // On a read-only file system it can still be searched, as long as nothing in it has to be brought up to date.
    const opened = await openFile({ path, name, readOnly: true }).catch(() => undefined)
    if (opened !== undefined) return opened
    throw thrown
  }
}

/** Brings a store up to date with files and folders; it is made when it is not there. @throws CriaError */
export async function indexPaths(choice: StoreChoice, paths: readonly string[], options: IndexOptions): Promise<IndexReport> {
  const { home, cwd, dryRun, signal, onProgress } = options
  // What is only tried out leaves nothing behind.
  const isTrial = dryRun && !choice.exists
  if (!isTrial) makeHomeFolder(home, home.stores)
  const [{ indexFiles }, store] = await Promise.all([
    import('../stores/index-files.ts'),
    openFile({ path: isTrial ? ':memory:' : choice.path, name: choice.name }),
  ])
  try {
    const report = await indexFiles(store, paths, { base: cwd, dryRun, signal, onProgress })
    return { store: choice.name, ...report }
  } finally {
    await store.close()
  }
}

/** The folder that the sources of a store are relative to; `undefined` where they are no files. */
export async function sourceBase(store: SqliteDocumentStore): Promise<string | undefined> {
  const { indexBase } = await import('../stores/ingest/base.ts')
  return indexBase(store)
}

async function openFile(options: {
  readonly path: string
  readonly name: string
  readonly readOnly?: boolean
}): Promise<SqliteDocumentStore> {
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  try {
    return await SqliteDocumentStore.open(options)
  } catch (thrown) {
    // Nobody named this file on the command line: that it cannot be used is a failure, no wrong usage.
    if (thrown instanceof ConfigurationError) throw new CriaError('store_failed', thrown.message, { cause: thrown })
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
