/** Opens the file of a document store, and checks its options. */

import type { EmbeddingModel } from '../../core/retrieval-models.ts'
import { ConfigurationError, CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import { describe } from '../../util/check.ts'
import { namesOf } from '../../util/nearest.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { FileKind } from '../../util/sqlite/file-kind.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import type { FileOptions } from '../../util/sqlite/open-file.ts'
import { checkChunkOptions } from '../chunk/chunk-document.ts'
import type { ChunkOptions } from '../chunk/chunk-document.ts'
import { checkOptionNames } from '../options.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

/** Options of `SqliteDocumentStore.open()`. */
export interface SqliteDocumentStoreOptions {
  /** The file; created when missing. `:memory:` keeps everything in this process. */
  readonly path: string
  /** Shown in events and on the command line; default `documents`. */
  readonly name?: string
  /** Refuses writes, and does not create the file. Default false. */
  readonly readOnly?: boolean
  /** Options for cutting documents into chunks. */
  readonly chunk?: ChunkOptions
  /**
   * Also finds passages by meaning: `append`, `extend` and `put` embed chunks, `search` embeds each question. A function receives the name of the
   * model that made the stored vectors, and is not called without stored vectors. Without a model the store searches words.
   */
  readonly embeddingModel?: EmbeddingModel | ((held: string) => EmbeddingModel | undefined)
  /** Opens a store with vectors of another model; `embed` then makes them again. Default false. */
  readonly replaceEmbeddings?: boolean
  /** `full` also survives a power loss between two transactions, and is slower; default `normal`. */
  readonly synchronous?: 'normal' | 'full'
}

const OPTIONS = namesOf<SqliteDocumentStoreOptions>({
  path: true,
  name: true,
  readOnly: true,
  chunk: true,
  embeddingModel: true,
  replaceEmbeddings: true,
  synchronous: true,
})

/** @throws ConfigurationError with the option, the expected and the actual value. */
export function checkStoreOptions(options: SqliteDocumentStoreOptions): void {
  // JavaScript callers may pass nothing, or only the path.
  if (typeof options?.path !== 'string' || options.path === '') {
    throw new ConfigurationError('A document store needs the path of its file: SqliteDocumentStore.open({ path }).')
  }
  checkOptionNames('A document store', options, OPTIONS, { file: 'path', chunkSize: 'chunk: { maxChars }' })
  checkChunkOptions(options.chunk ?? {})
  const { synchronous = 'normal' } = options
  if (synchronous !== 'normal' && synchronous !== 'full')
    throw new ConfigurationError(`\`synchronous\` must be normal or full, but is ${JSON.stringify(synchronous)}.`)
}

/** @throws ConfigurationError when the value is not an embedding model, or declares an impossible limit. */
export function checkEmbeddingModel(model: EmbeddingModel): void {
  if (typeof model.embed !== 'function' || typeof model.ref !== 'string') {
    throw new ConfigurationError('embeddingModel must be a result of createEmbeddingModel(), or an object with ref and embed.')
  }
  for (const limit of ['maxBatch', 'maxTokens'] as const) {
    const value: unknown = model[limit]
    if (value === undefined || (typeof value === 'number' && value >= 1)) continue
    throw new ConfigurationError(
      `\`${limit}\` of the embedding model ${model.ref} must be a number of at least 1, but is ${describe(value)}.`,
    )
  }
}

/** Page cache: indexing touches many small rows all over the file. */
const CACHE_KB = 32_768

/** Milliseconds to wait for the lock of another process; one transaction takes a fraction of a second. */
export const STORE_BUSY_MS = 30_000

const STORE: FileKind = {
  name: 'document store',
  applicationId: APPLICATION_ID,
  migrations: MIGRATIONS,
  busyTimeoutMs: STORE_BUSY_MS,
  pageSize: 8192,
  settings: `PRAGMA cache_size = -${CACHE_KB}`,
  probe: 'DELETE FROM facts WHERE FALSE',
  missingHint: 'check the path, or index documents first.',
  hints: {
    11: 'Remove the file and index the documents again.',
    13: 'Free some space, and index again: what was indexed before is kept.',
    18: 'Cut the document into smaller ones.',
  },
  errors: {
    isOne: isCriaError,
    refused: (message, details) => new ConfigurationError(message, details),
    failed: (message, details) => new CriaError('store_failed', message, details),
    isFailed: (error) => isCriaError(error) && error.code === 'store_failed',
    wrong: (message, details) => new CriaError('internal', message, details),
    unknown: toCriaError,
  },
}

/** Opens or creates the file. @throws ConfigurationError, CriaError `store_failed` */
export function openStoreFile(options: FileOptions): Connection {
  return openFile(STORE, options)
}
