/** Opens document stores and fills them with files. */

import { ConfigurationError, CriaError } from '../core/error.ts'
import type { SqliteDocumentStore } from '../stores/sqlite.ts'
import type { StoreChoice } from './store-choice.ts'

export interface IndexReport {
  readonly store: string
  /** Files and chunks that the store holds of these paths now. */
  readonly files: number
  readonly chunks: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  readonly skipped: readonly { readonly path: string; readonly reason: string }[]
  readonly ms: number
}

export interface IndexProgress {
  readonly done: number
  readonly total?: number
  readonly current?: string
}

export interface IndexOptions {
  readonly cwd: string
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
  const { SqliteDocumentStore } = await import('../stores/sqlite.ts')
  try {
    return await SqliteDocumentStore.open({ path, name })
  } catch (thrown) {
    // On a read-only file system it can still be searched, as long as nothing in it has to be brought up to date.
    const opened = await SqliteDocumentStore.open({ path, name, readOnly: true }).catch(() => undefined)
    if (opened !== undefined) return opened
    // Nobody named this file on the command line: that it cannot be used is a failure, no wrong usage.
    if (thrown instanceof ConfigurationError) throw new CriaError('store_failed', thrown.message, { cause: thrown })
    throw thrown
  }
}

export async function indexPaths(choice: StoreChoice, paths: readonly string[], options: IndexOptions): Promise<IndexReport> {
  throw new Error(`not yet: ${choice.path} ${paths.length} ${options.cwd}`)
}
