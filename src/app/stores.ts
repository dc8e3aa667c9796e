/** Opens document stores and fills them with files. */

import type { DocumentStore } from '../core/store.ts'
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

/** Opens a store that is there, for searching. @throws CriaError `store_failed` or `configuration` that names the file and what to do. */
export async function openStore(choice: StoreChoice): Promise<DocumentStore> {
  throw new Error(`not yet: ${choice.path}`)
}

export async function indexPaths(choice: StoreChoice, paths: readonly string[], options: IndexOptions): Promise<IndexReport> {
  throw new Error(`not yet: ${choice.path} ${paths.length} ${options.cwd}`)
}
