/** Opens the file of a document store. */

import { ConfigurationError, CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { FileKind } from '../../util/sqlite/file-kind.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import type { FileOptions } from '../../util/sqlite/open-file.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

/** Pages that are kept in memory: indexing touches many small rows all over the file. */
const CACHE_KB = 32_768

/** Milliseconds for which a lock of another process is waited for; one transaction takes a fraction of a second. */
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

/** Opens the file, or makes it. @throws ConfigurationError, CriaError `store_failed` */
export function openStoreFile(options: FileOptions): Connection {
  return openFile(STORE, options)
}
