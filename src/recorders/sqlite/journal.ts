/** The kind of file that a journal is, and what the functions of this folder share of an open one. */

import type { Amount } from '../../core/budget.ts'
import { ConfigurationError, CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { FileKind } from '../../util/sqlite/file-kind.ts'
import type { Row } from './columns.ts'
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
    isFailed,
    wrong: (message, details) => new CriaError('internal', message, details),
    unknown: toCriaError,
  },
}

/** The file could not be read or written. */
export function isFailed(error: unknown): boolean {
  return isCriaError(error) && error.code === 'journal_failed'
}

/** The process that holds turns. */
export interface Owner {
  readonly host: string
  /**
   * Process ids mean the same where this is the same: one boot of one machine, and on Linux one namespace of process ids, so that two
   * containers are two machines.
   */
  readonly machine: string
  readonly pid: number
  /** Tells the process from a later one with the same id; empty where the system does not say. */
  readonly started: string
}

/** An open journal. */
export interface Journal {
  readonly connection: Connection
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly owner: Owner
  /** Tells this recorder from others of the same process. */
  readonly holder: string
  readonly leaseMs: number
  /** Where sessions are begun; absent where nobody knows. */
  readonly folder?: string
  /** Turns that this recorder opened and has not ended, by turn id. */
  readonly open: Map<string, OpenTurn>
  /** Rows of spans that the next transaction takes along, in the order they ended. */
  readonly spans: Row[]
}

export interface TurnKey {
  /** Integer key of the row of the turn. */
  readonly key: number
  readonly turnId: string
  readonly sessionId: string
}

export interface OpenTurn extends TurnKey {
  nextSeq: number
  /** Of the next message. */
  nextPosition: number
  /** Ids of messages that came with a `message` event. */
  readonly assembled: Set<string>
  /** What of its use the accounts of session and day have been told. */
  counted: Amount
  /** It decides a turn that waits, which it has not taken up yet. */
  decides: boolean
  /** The last attempt to write failed: nobody renews its lease until one succeeds. */
  failing: boolean
}
