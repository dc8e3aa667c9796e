/** The journal on one SQLite file. */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type {
  FeedbackRecord,
  GcOptions,
  GcReport,
  JournalEntry,
  JournalKeeper,
  Recorder,
  SessionStats,
  StatsRow,
  TurnClose,
  TurnOpen,
} from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { SqliteBudget } from './budget.ts'
import { SqliteCache } from './cache.ts'
import { openJournalFile } from './file.ts'
import { collectGarbage } from './gc.ts'
import type { Journal } from './journal.ts'
import { wellFormedJson } from './json.ts'
import { endUnheldTurns, giveUpLeases, renewLeases } from './lease.ts'
import { thisOwner } from './owner.ts'
import type { Owner } from './owner.ts'
import { createReader } from './read.ts'
import type { SqliteJournalReader } from './read.ts'
import { insertSpan } from './spans.ts'
import { readSessionStats, readStats } from './stats.ts'
import { closeTurn, openTurn, record } from './turn.ts'

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
  /** Who holds the turns; default this process. */
  readonly owner?: Owner
}

const DEFAULT_LEASE_MS = 60_000
const RATINGS: ReadonlySet<number> = new Set([-1, 1, 2, 3, 4, 5])

export class SqliteRecorder implements Recorder, JournalKeeper {
  readonly read: SqliteJournalReader
  readonly budget: SqliteBudget
  readonly cache: SqliteCache
  readonly #journal: Journal
  #renewal: NodeJS.Timeout | undefined

  private constructor(journal: Journal) {
    this.#journal = journal
    this.read = createReader(journal)
    this.budget = new SqliteBudget(journal)
    this.cache = new SqliteCache(journal.connection)
  }

  /**
   * @throws ConfigurationError for a path where something else is: a folder, another application's file, an empty file, a journal of a
   * newer version; CriaError `journal_failed` where the file cannot be opened, made or written, or is damaged.
   */
  static async open(options: SqliteRecorderOptions): Promise<SqliteRecorder> {
    const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    if (!(leaseMs > 0)) throw new ConfigurationError(`leaseMs must be a number above 0, but is ${String(leaseMs)}.`)
    const { path, readOnly = false, synchronous = 'normal', clock = Date } = options
    return new SqliteRecorder({
      connection: openJournalFile({ path, readOnly, synchronous }),
      now: () => clock.now(),
      owner: options.owner ?? thisOwner(),
      holder: randomBytes(16).toString('hex'),
      leaseMs,
      open: new Map(),
    })
  }

  openTurn(turn: TurnOpen): void {
    openTurn(this.#journal, turn)
    this.#keepRenewing()
  }

  record(turnId: string, entries: readonly JournalEntry[]): void {
    record(this.#journal, turnId, entries)
  }

  closeTurn(turnId: string, close: TurnClose): void {
    closeTurn(this.#journal, turnId, close)
  }

  span(span: SpanRecord): void {
    insertSpan(this.#journal.connection, span)
  }

  feedback(feedback: FeedbackRecord): void {
    const { at, choice, first, second, question, details } = feedback
    this.#journal.connection.run(
      'INSERT INTO feedback (at, choice, first_turn_id, second_turn_id, question, details) VALUES (?, ?, ?, ?, ?, ?)',
      [at, choice, first, second, question.toWellFormed(), details === undefined ? null : wellFormedJson(details)],
    )
  }

  rate(turnId: string, rating: number | null, comment?: string): void {
    if (rating !== null && !RATINGS.has(rating)) {
      throw new ConfigurationError(`A rating is 1 to 5, or -1 and 1 for thumbs down and up, or null, but is ${rating}.`)
    }
    const changed = this.#journal.connection.run('UPDATE turns SET rating = ?, rating_comment = ? WHERE turn_id = ?', [
      rating,
      rating === null ? null : (comment?.toWellFormed() ?? null),
      turnId,
    ])
    if (changed === 0) throw new CriaError('not_found', `There is no turn ${turnId} in ${this.#journal.connection.path}.`)
  }

  sweep(): number {
    return endUnheldTurns(this.#journal)
  }

  stats(): readonly StatsRow[] {
    return readStats(this.#journal.connection)
  }

  sessionStats(limit = 50): readonly SessionStats[] {
    return readSessionStats(this.#journal.connection, limit)
  }

  gc(options: GcOptions = {}): GcReport {
    return collectGarbage(this.#journal, options)
  }

  close(): void {
    clearInterval(this.#renewal)
    const { connection, open } = this.#journal
    try {
      if (open.size > 0) giveUpLeases(this.#journal)
    } catch {
      // They run out by themselves.
    }
    open.clear()
    connection.close()
  }

  #keepRenewing(): void {
    this.#renewal ??= setInterval(() => {
      if (this.#journal.open.size === 0) {
        clearInterval(this.#renewal)
        this.#renewal = undefined
        return
      }
      try {
        renewLeases(this.#journal)
      } catch {
        // Whoever writes next meets the same failure, and can say so.
      }
    }, this.#journal.leaseMs / 3).unref()
  }
}
