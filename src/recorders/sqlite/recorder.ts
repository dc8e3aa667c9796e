/** Implements the journal on one SQLite file. */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { GcOptions, GcReport, JournalKeeper, Recorder } from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { ignoreRejection, isPromise } from '../../util/promise.ts'
import { isBusy } from '../../util/sqlite/failure.ts'
import { openFilePatiently } from '../../util/sqlite/open-file.ts'
import { Patience } from '../../util/sqlite/patience.ts'
import { checkRating, DEFAULT_LEASE_MS } from '../rules.ts'
import { insertInto, jsonOrNull } from './columns.ts'
import { erase } from './erase.ts'
import { follow, Pulse } from './follow.ts'
import { collectGarbage, tend } from './gc.ts'
import { JOURNAL } from './journal.ts'
import type { Journal, Owner } from './journal.ts'
import { endUnheldTurns, giveUpLeases, renewLeases, thisOwner } from './lease.ts'
import { keepSettings, readSessions } from './lists.ts'
import { createReader } from './read.ts'
import type { AtOnce, SqliteJournalReader } from './read.ts'
import { budgetIn, cacheIn } from './shared.ts'
import { toSpanRow, writeWithSpans } from './spans.ts'
import { readPromptStats, readSessionStats, readStats, readTagStats, readUserStats } from './stats.ts'
import { closeTurn, openTurn, record } from './turn.ts'

export interface SqliteRecorderOptions {
  /** Path of the file, created with its folder where it is missing; `:memory:` for a journal that ends with the recorder. */
  readonly path: string
  /** Reads only: creates nothing, changes nothing, marks no turn as lost. Default false. */
  readonly readOnly?: boolean
  /**
   * `normal` (default) survives any end of the process, and loses the last moments in a power failure; `full` waits for
   * the disk with every batch and loses nothing. Neither leaves a damaged file.
   */
  readonly synchronous?: 'normal' | 'full'
  /** Milliseconds without a sign of life after which a turn counts as lost; default 60,000. */
  readonly leaseMs?: number
  readonly clock?: Pick<Clock, 'now'>
  /** Absolute path of the folder recorded with new sessions; default none. */
  readonly folder?: string
  /** The process that holds the turns; default this process. */
  readonly owner?: Owner
  /** Aborts the wait for a lock while the file is opened. */
  readonly signal?: AbortSignal
  /** Enables the automatic clean-up between turns (see `tend`), and receives its report. Default: nothing is removed automatically. */
  readonly onCleanUp?: (report: GcReport) => void
}

/** Methods that only read. */
type Reading = Pick<JournalKeeper, 'sessions' | 'stats' | 'sessionStats' | 'userStats' | 'tagStats' | 'prompts'>

/** Data is written when a method returns. A method returns a promise where another process holds the lock of the file. */
export interface SqliteRecorder extends Required<Recorder>, Omit<JournalKeeper, keyof Reading>, AtOnce<Reading> {
  /** The file, as an absolute path. */
  readonly path: string
  readonly read: SqliteJournalReader
  span(span: SpanRecord): void
  gc(options?: GcOptions): Promise<GcReport>
  /** As in every journal; age counts only as far as days with turns agree with the clock. */
  tend(signal?: AbortSignal): Promise<GcReport | undefined>
}

/** Milliseconds after the end of the last turn until the automatic clean-up; and between two checks whether it is due. */
const TEND_AFTER_MS = 1000
const TEND_EVERY_MS = 3_600_000

/** Opens recorders on files. */
export const SqliteRecorder: { open(options: SqliteRecorderOptions): Promise<SqliteRecorder> } = { open }

/**
 * @throws ConfigurationError for a path where something else exists: a folder, another application's file, an empty file, a journal of a
 * newer version; CriaError `journal_failed` where the file cannot be opened, created or written, or is damaged.
 */
async function open(options: SqliteRecorderOptions): Promise<SqliteRecorder> {
  const { path, readOnly = false, synchronous = 'normal', leaseMs = DEFAULT_LEASE_MS, clock = Date, folder, signal } = options
  if (!(leaseMs > 0)) throw new ConfigurationError(`leaseMs must be a number above 0, but is ${String(leaseMs)}.`)
  const connection = await openFilePatiently(JOURNAL, { path, readOnly, synchronous }, signal)
  return recorderIn(
    {
      connection,
      now: () => clock.now(),
      owner: options.owner ?? thisOwner(),
      holder: randomBytes(16).toString('hex'),
      leaseMs,
      ...(folder === undefined ? {} : { folder }),
      open: new Map(),
      spans: [],
    },
    options.onCleanUp,
  )
}

function recorderIn(journal: Journal, onCleanUp: SqliteRecorderOptions['onCleanUp']): SqliteRecorder {
  const { connection } = journal
  const patience = new Patience(JOURNAL.busyTimeoutMs)
  const read = createReader(journal)
  const pulse = new Pulse(connection)
  const timers = startTimers(journal, patience, onCleanUp)

  /** Writes to a turn. A turn whose write failed, other than for a lock, is not renewed. */
  const write = (turnId: string, work: () => void): void | Promise<void> => {
    const written = patience.run(() => {
      work()
      pulse.beat()
    })
    if (!isPromise(written)) return undefined
    return written.catch((error: unknown) => {
      const turn = journal.open.get(turnId)
      if (turn !== undefined && isBusy(error)) turn.failing = true
      throw error
    })
  }

  return {
    path: connection.path,
    read,
    keepsWaiting: true,
    budget: budgetIn(journal, patience),
    cache: cacheIn(connection, patience),
    openTurn: (turn) => {
      timers.keepRenewing()
      return patience.run(() => openTurn(journal, turn))
    },
    record: (turnId, entries) => write(turnId, () => record(journal, turnId, entries)),
    closeTurn: (turnId, close) => {
      timers.tendLater()
      return write(turnId, () => closeTurn(journal, turnId, close))
    },
    // Stored with the next transaction, or in the next turn of the event loop.
    span: (span) => {
      journal.spans.push(toSpanRow(span))
      timers.storeSpansSoon()
    },
    feedback: ({ at, choice, first, second, question, details }) => {
      const turns = { firstTurnId: first, secondTurnId: second }
      const row = { at, choice, ...turns, question: question.toWellFormed(), details: jsonOrNull(details) }
      return patience.run(() => void insertInto(connection, 'feedback', row))
    },
    rate: (turnId, rating, comment) => {
      checkRating(rating)
      const stored = rating === null ? null : (comment?.toWellFormed() ?? null)
      return patience.run(() => {
        const rate = 'UPDATE turns SET rating = ?, rating_comment = ? WHERE turn_id = ?'
        if (connection.run(rate, [rating, stored, turnId]) === 0)
          throw new CriaError('not_found', `There is no turn ${turnId} in ${connection.path}.`)
      })
    },
    sessions: (query) => readSessions(connection, query),
    keepSettings: (sessionId, settings) => patience.run(() => keepSettings(connection, sessionId, settings)),
    follow: (turnId, how) => follow(connection, read, pulse, turnId, how),
    sweep: () => patience.run(() => endUnheldTurns(journal)),
    stats: (filter) => readStats(connection, filter),
    sessionStats: (limit, filter) => readSessionStats(connection, limit, filter),
    userStats: (limit) => readUserStats(connection, limit),
    tagStats: (limit) => readTagStats(connection, limit),
    prompts: (name) => readPromptStats(connection, name),
    deleteSession: (sessionId) => erase(journal, 'sessionId', sessionId),
    deleteUser: (userId) => erase(journal, 'userId', userId),
    deleteTagged: (tag) => erase(journal, 'tag', tag),
    gc: async (options = {}) => {
      await patience.run(() => writeWithSpans(journal, () => {}))
      return collectGarbage(journal, options)
    },
    tend: (signal) => tend(journal, signal),
    close: () => {
      timers.stop()
      if (!connection.isOpen) return undefined
      const finish = (): void => {
        journal.open.clear()
        connection.close()
        pulse.beat()
      }
      try {
        const given = patience.run(() => {
          if (journal.spans.length > 0 || journal.open.size > 0) writeWithSpans(journal, () => giveUpLeases(journal))
        })
        // A lease that cannot be given up runs out.
        if (isPromise(given)) return given.then(finish, finish)
      } catch {
        // As above.
      }
      return finish()
    },
  }
}

/** Returns functions that start the background work at its first need. */
function startTimers(journal: Journal, patience: Patience, onCleanUp: SqliteRecorderOptions['onCleanUp']) {
  const closing = new AbortController()
  let renewal: NodeJS.Timeout | undefined
  let spansDue: NodeJS.Immediate | undefined
  let tending: NodeJS.Timeout | undefined
  let tendAgainAt = 0
  return {
    /** Renews the leases of open turns until there are no open turns. */
    keepRenewing: () => {
      renewal ??= setInterval(() => {
        if (journal.open.size === 0) {
          clearInterval(renewal)
          renewal = undefined
          return
        }
        // The next write meets the same failure and reports it.
        failsAtOnce(() => patience.run(() => renewLeases(journal)))
      }, journal.leaseMs / 3).unref()
    },
    /** Stores waiting spans in the next turn of the event loop. */
    storeSpansSoon: () => {
      spansDue ??= setImmediate(() => {
        spansDue = undefined
        if (journal.spans.length === 0) return
        // A span that cannot be written is lost; writes of the turn report the failing journal.
        const failed = failsAtOnce(() => patience.run(() => writeWithSpans(journal, () => {})))
        if (failed) journal.spans.length = 0
      })
    },
    /** Cleans up once no turn has ended for a moment, if that is enabled. */
    tendLater: () => {
      if (onCleanUp === undefined || tending !== undefined || performance.now() < tendAgainAt) return
      tending = setTimeout(() => {
        tendAgainAt = performance.now() + TEND_EVERY_MS
        tend(journal, closing.signal)
          .then((report) => (report === undefined ? undefined : onCleanUp(report)))
          // A journal that cannot be cleaned up today can still be written.
          .catch(() => {})
          .finally(() => (tending = undefined))
      }, TEND_AFTER_MS).unref()
    },
    stop: () => {
      clearInterval(renewal)
      clearImmediate(spansDue)
      clearTimeout(tending)
      closing.abort()
    },
  }
}

/** Ignores a failure of `work`. @returns whether it failed synchronously. */
function failsAtOnce(work: () => unknown): boolean {
  try {
    ignoreRejection(work())
    return false
  } catch {
    return true
  }
}
