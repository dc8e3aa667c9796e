/** Opens the file of a journal. */

import { ConfigurationError, CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { FileKind } from '../../util/sqlite/file-kind.ts'
import { openFile, openFilePatiently } from '../../util/sqlite/open-file.ts'
import type { FileOptions } from '../../util/sqlite/open-file.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

export const JOURNAL: FileKind = {
  name: 'journal',
  applicationId: APPLICATION_ID,
  migrations: MIGRATIONS,
  // Transactions take less than a millisecond.
  busyTimeoutMs: 10_000,
  // What is deleted is overwritten: a user who is deleted must not be found in free pages.
  settings: 'PRAGMA secure_delete = ON',
  probe: 'DELETE FROM leases WHERE FALSE',
  missingHint: 'nothing has been recorded there yet. Check the path.',
  hints: {
    11: 'Move the file away, and a new one is begun; `sqlite3 FILE .recover` saves what can still be read.',
    13: 'Free some space, 5 MB at least; then `cria logs gc` makes the journal itself smaller.',
  },
  errors: {
    isOne: isCriaError,
    refused: (message, details) => new ConfigurationError(message, details),
    failed: (message, details) => new CriaError('journal_failed', message, details),
    isFailed: (error) => isCriaError(error) && error.code === 'journal_failed',
    wrong: (message, details) => new CriaError('internal', message, details),
    unknown: toCriaError,
  },
}

/** Opens the file, or makes it. @throws ConfigurationError, CriaError `journal_failed` */
export function openJournalFile(options: FileOptions): Connection {
  return openFile(JOURNAL, options)
}

/** The same; its users wait for locks by `Patience`. @throws as `openJournalFile`; the reason of the signal when it is aborted. */
export function openJournalPatiently(options: FileOptions, signal?: AbortSignal): Promise<Connection> {
  return openFilePatiently(JOURNAL, options, signal)
}
