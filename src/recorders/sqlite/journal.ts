/** Defines the file format of a journal, and the state of an open journal that the modules of this folder share. */

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
  // Overwrites deleted content: a deleted user's data must not remain in free pages.
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

/** Reports whether the file could not be read or written. */
export function isFailed(error: unknown): boolean {
  return isCriaError(error) && error.code === 'journal_failed'
}

/** The process that holds a turn. */
export interface Owner {
  readonly host: string
  /**
   * Process ids are comparable where this value is equal: it identifies one boot of one machine, and on Linux one PID namespace, so that two
   * containers count as two machines.
   */
  readonly machine: string
  readonly pid: number
  /** Start of the process, to distinguish it from a later process with the same id; empty where the system does not report it. */
  readonly started: string
}

/** An open journal. */
export interface Journal {
  readonly connection: Connection
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly owner: Owner
  /** Distinguishes this recorder from others of the same process. */
  readonly holder: string
  readonly leaseMs: number
  /** Folder in which sessions are started; absent where it is unknown. */
  readonly folder?: string
  /** Turns opened by this recorder and not yet ended, by turn id. */
  readonly open: Map<string, OpenTurn>
  /** Rows of spans to be written with the next transaction, in the order they ended. */
  readonly spans: Row[]
}

export interface TurnKey {
  /** Integer key of the turn's row. */
  readonly key: number
  readonly turnId: string
  readonly sessionId: string
}

export interface OpenTurn extends TurnKey {
  nextSeq: number
  /** Position of the next message. */
  nextPosition: number
  /** Ids of messages written with their `message` event. */
  readonly assembled: Set<string>
  /** The part of its use that the accounts of session and day already contain. */
  counted: Amount
  /** Decides a waiting turn, whose calls it has not taken over yet. */
  decides: boolean
  /** The last write failed: the lease is not renewed until a write succeeds. */
  failing: boolean
}
