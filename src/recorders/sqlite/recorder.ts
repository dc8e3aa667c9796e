/** The journal on one SQLite file. */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type {
  Deletion,
  FollowOptions,
  FeedbackRecord,
  GcOptions,
  GcReport,
  JournalEntry,
  JournalKeeper,
  ListSessions,
  PromptStats,
  Recorder,
  SessionStats,
  SessionSummary,
  StatsRow,
  TagStats,
  TurnClose,
  TurnFilter,
  TurnOpen,
  UserStats,
} from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { isPromise, unheard } from '../../util/promise.ts'
import { isBusy } from '../../util/sqlite/failure.ts'
import { Patience } from '../../util/sqlite/patience.ts'
import { checkRating, DEFAULT_LEASE_MS } from '../rules.ts'
import { SqliteBudget } from './budget.ts'
import { SqliteCache } from './cache.ts'
import { JOURNAL, openJournalPatiently } from './file.ts'
import { follow, Pulse } from './follow.ts'
import { erase } from './erase.ts'
import { cleanUp, planCleanUp } from './gc.ts'
import type { Journal } from './journal.ts'
import { wellFormedJson } from './columns.ts'
import { endUnheldTurns, giveUpLeases, renewLeases } from './lease.ts'
import { thisOwner } from './owner.ts'
import type { Owner } from './owner.ts'
import { createReader } from './read.ts'
import type { SqliteJournalReader } from './read.ts'
import { keepSettings, readSessions } from './sessions.ts'
import { readPromptStats } from './prompts.ts'
import { toSpanRow, writeWithSpans } from './spans.ts'
import { readSessionStats, readStats, readTagStats, readUserStats } from './stats.ts'
import { closeTurn, openTurn, record } from './turn.ts'
import { limitsOf, tend } from './upkeep.ts'

export interface SqliteRecorderOptions {
  /** The file, made with its folder where it is missing; `:memory:` for a journal that ends with the recorder. */
  readonly path: string
  /** Reads only: nothing is made, changed or marked as lost. Default false. */
  readonly readOnly?: boolean
  /**
   * `normal` (default) survives every end of the process, and loses the last moments when the machine loses power; `full` waits for
   * the disk with every batch and loses nothing. Neither ever leaves a damaged file.
   */
  readonly synchronous?: 'normal' | 'full'
  /** Milliseconds after which a turn that nothing is heard of counts as lost; default 60,000. */
  readonly leaseMs?: number
  readonly clock?: Pick<Clock, 'now'>
  /** Absolute path of the folder that sessions are begun in from now on; default none, and nobody knows it. */
  readonly folder?: string
  /** Who holds the turns; default this process. */
  readonly owner?: Owner
  /** Ends the wait for a lock while the file is opened. */
  readonly signal?: AbortSignal
  /** Lets the journal look after itself between turns (see `tend`), and is told what was removed. Default: nothing is removed unasked. */
  readonly onCleanUp?: (report: GcReport) => void
}

/** After the last turn ended, before the journal looks after itself; and how often it looks whether that is due. */
const TEND_AFTER_MS = 1000
const TEND_EVERY_MS = 3_600_000

/** What is written is there when a method returns. It returns a promise where another process holds the lock of the file. */
export class SqliteRecorder implements Recorder, JournalKeeper {
  readonly read: SqliteJournalReader
  readonly keepsWaiting = true
  readonly budget: SqliteBudget
  readonly cache: SqliteCache
  readonly #journal: Journal
  readonly #patience: Patience
  readonly #pulse: Pulse
  #renewal: NodeJS.Timeout | undefined
  #spansDue: NodeJS.Immediate | undefined
  readonly #onCleanUp: ((report: GcReport) => void) | undefined
  #tending: NodeJS.Timeout | undefined
  #tendAgainAt = 0
  readonly #closing = new AbortController()

  private constructor(journal: Journal, onCleanUp: ((report: GcReport) => void) | undefined) {
    this.#journal = journal
    this.#onCleanUp = onCleanUp
    this.#patience = new Patience(JOURNAL.busyTimeoutMs)
    this.read = createReader(journal)
    this.#pulse = new Pulse(journal.connection)
    this.budget = new SqliteBudget(journal, this.#patience)
    this.cache = new SqliteCache(journal.connection, this.#patience)
  }

  /**
   * @throws ConfigurationError for a path where something else is: a folder, another application's file, an empty file, a journal of a
   * newer version; CriaError `journal_failed` where the file cannot be opened, made or written, or is damaged.
   */
  static async open(options: SqliteRecorderOptions): Promise<SqliteRecorder> {
    const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    if (!(leaseMs > 0)) throw new ConfigurationError(`leaseMs must be a number above 0, but is ${String(leaseMs)}.`)
    const { path, readOnly = false, synchronous = 'normal', clock = Date, folder, signal } = options
    const journal: Journal = {
      connection: await openJournalPatiently({ path, readOnly, synchronous }, signal),
      now: () => clock.now(),
      owner: options.owner ?? thisOwner(),
      holder: randomBytes(16).toString('hex'),
      leaseMs,
      ...(folder === undefined ? {} : { folder }),
      open: new Map(),
      spans: [],
    }
    return new SqliteRecorder(journal, options.onCleanUp)
  }

  get path(): string {
    return this.#journal.connection.path
  }

  openTurn(turn: TurnOpen): MaybePromise<void> {
    this.#keepRenewing()
    return this.#patience.run(() => openTurn(this.#journal, turn))
  }

  record(turnId: string, entries: readonly JournalEntry[]): MaybePromise<void> {
    return this.#held(turnId, () => {
      record(this.#journal, turnId, entries)
      this.#pulse.beat()
    })
  }

  closeTurn(turnId: string, close: TurnClose): MaybePromise<void> {
    this.#tendLater()
    return this.#held(turnId, () => {
      closeTurn(this.#journal, turnId, close)
      this.#pulse.beat()
    })
  }

  /** Stored with the next transaction, or when the event loop has turned. */
  span(span: SpanRecord): void {
    this.#journal.spans.push(toSpanRow(span))
    this.#spansDue ??= setImmediate(() => {
      this.#spansDue = undefined
      if (this.#journal.spans.length === 0) return
      // A span that cannot be written is lost; the turn's own rows report a journal that fails.
      try {
        unheard(this.#patience.run(() => writeWithSpans(this.#journal, () => {})))
      } catch {
        this.#journal.spans.length = 0
      }
    })
  }

  feedback(feedback: FeedbackRecord): MaybePromise<void> {
    const { at, choice, first, second, question, details } = feedback
    const values = [at, choice, first, second, question.toWellFormed(), details === undefined ? null : wellFormedJson(details)]
    return this.#patience.run(() => {
      this.#journal.connection.run(
        'INSERT INTO feedback (at, choice, first_turn_id, second_turn_id, question, details) VALUES (?, ?, ?, ?, ?, ?)',
        values,
      )
    })
  }

  rate(turnId: string, rating: number | null, comment?: string): MaybePromise<void> {
    checkRating(rating)
    const { connection } = this.#journal
    return this.#patience.run(() => {
      const changed = connection.run('UPDATE turns SET rating = ?, rating_comment = ? WHERE turn_id = ?', [
        rating,
        rating === null ? null : (comment?.toWellFormed() ?? null),
        turnId,
      ])
      if (changed === 0) throw new CriaError('not_found', `There is no turn ${turnId} in ${connection.path}.`)
    })
  }

  sessions(query?: ListSessions): readonly SessionSummary[] {
    return readSessions(this.#journal.connection, query)
  }

  keepSettings(sessionId: string, settings: JsonObject): MaybePromise<void> {
    return this.#patience.run(() => keepSettings(this.#journal.connection, sessionId, settings))
  }

  follow(turnId: string, options?: FollowOptions): AsyncGenerator<QueryEvent, void, undefined> {
    return follow(this.#journal, this.read, this.#pulse, turnId, options)
  }

  sweep(): MaybePromise<number> {
    return this.#patience.run(() => endUnheldTurns(this.#journal))
  }

  stats(filter?: TurnFilter): readonly StatsRow[] {
    return readStats(this.#journal.connection, filter)
  }

  sessionStats(limit = 50, filter?: TurnFilter): readonly SessionStats[] {
    return readSessionStats(this.#journal.connection, limit, filter)
  }

  userStats(limit = 50): readonly UserStats[] {
    return readUserStats(this.#journal.connection, limit)
  }

  tagStats(limit = 50): readonly TagStats[] {
    return readTagStats(this.#journal.connection, limit)
  }

  deleteSession(sessionId: string): Promise<Deletion> {
    return erase(this.#journal, { sessionId })
  }

  deleteUser(userId: string): Promise<Deletion> {
    return erase(this.#journal, { userId })
  }

  deleteTagged(tag: string): Promise<Deletion> {
    return erase(this.#journal, { tag })
  }

  prompts(name?: string): readonly PromptStats[] {
    return readPromptStats(this.#journal.connection, name)
  }

  /** Works in small steps; other turns of this process and other processes write in between. */
  async gc(options: GcOptions = {}): Promise<GcReport> {
    await this.#patience.run(() => writeWithSpans(this.#journal, () => {}))
    const limits = limitsOf(options, this.#journal)
    return options.dryRun === true
      ? planCleanUp(this.#journal, limits)
      : cleanUp(this.#journal, { ...limits, isAsked: true, signal: options.signal })
  }

  /**
   * Brings the journal a step closer to its own limits, where that is due: once a day, at most a small share of its turns, and by age only
   * as far as days on which it was used agree with the clock.
   *
   * @param signal ends it early; what is left is done another time.
   * @returns what was removed; `undefined` when nothing was.
   */
  tend(signal?: AbortSignal): Promise<GcReport | undefined> {
    return tend(this.#journal, signal)
  }

  close(): MaybePromise<void> {
    clearInterval(this.#renewal)
    clearImmediate(this.#spansDue)
    clearTimeout(this.#tending)
    this.#closing.abort()
    const { connection, open, spans } = this.#journal
    if (!connection.isOpen) return undefined
    const finish = (): void => {
      open.clear()
      connection.close()
      this.#pulse.beat()
    }
    try {
      const given = this.#patience.run(() => {
        if (spans.length > 0 || open.size > 0) writeWithSpans(this.#journal, () => giveUpLeases(this.#journal))
      })
      // Leases that cannot be given up run out by themselves.
      if (isPromise(given)) return given.then(finish, finish)
    } catch {
      // The same.
    }
    return finish()
  }

  /** Turns that could not be written although the lock was waited for are not renewed. */
  #held(turnId: string, work: () => void): MaybePromise<void> {
    const written = this.#patience.run(work)
    if (!isPromise(written)) return undefined
    return written.catch((error: unknown) => {
      const turn = this.#journal.open.get(turnId)
      if (turn !== undefined && isBusy(error)) turn.failing = true
      throw error
    })
  }

  #tendLater(): void {
    const onCleanUp = this.#onCleanUp
    if (onCleanUp === undefined || this.#tending !== undefined || performance.now() < this.#tendAgainAt) return
    this.#tending = setTimeout(() => {
      this.#tendAgainAt = performance.now() + TEND_EVERY_MS
      this.tend(this.#closing.signal)
        .then((report) => (report === undefined ? undefined : onCleanUp(report)))
        // A journal that cannot be made smaller today can still be written.
        .catch(() => {})
        .finally(() => (this.#tending = undefined))
    }, TEND_AFTER_MS).unref()
  }

  #keepRenewing(): void {
    this.#renewal ??= setInterval(() => {
      if (this.#journal.open.size === 0) {
        clearInterval(this.#renewal)
        this.#renewal = undefined
        return
      }
      try {
        unheard(this.#patience.run(() => renewLeases(this.#journal)))
      } catch {
        // Whoever writes next meets the same failure, and can say so.
      }
    }, this.#journal.leaseMs / 3).unref()
  }
}
