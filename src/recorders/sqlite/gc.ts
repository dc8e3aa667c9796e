/**
 * Removes turns, oldest first, in small steps: each holds the lock briefly, so that other turns of this and other processes can write
 * between two steps. Returns freed space to the disk. The automatic clean-up removes a small share per day, and protects turns against a
 * wrong clock.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { CriaError } from '../../core/error.ts'
import type { GcOptions, GcReport } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isFull } from '../../util/sqlite/file-kind.ts'
import { patiently } from '../../util/sqlite/patience.ts'
import { isMuchFree, truncateLog, usedBytes, vacuum } from '../../util/sqlite/connection.ts'
import { columnsOf, insertInto } from './columns.ts'
import { JOURNAL } from './journal.ts'
import type { Journal } from './journal.ts'
import { removeUnusedPrompts } from './message.ts'

/** Approximate milliseconds for which a step holds the lock; and the pause before the next step. */
const STEP_MS = 25
export const PAUSE_MS = 10

const DAY_MS = 86_400_000
/** Default limits. */
const MAX_AGE_MS = 365 * DAY_MS
const MAX_BYTES = 2 ** 30
/** Share of the turns that the automatic clean-up removes per day at most, and a minimum number. */
const MOST_SHARE = 0.02
const LEAST_TURNS = 20
/** Age counts from the fourth-newest day with turns: a wrong clock adds at most one such day per day. */
const AGREEING_DAYS = 4

interface Limits {
  /** Removes turns that started earlier; epoch milliseconds. */
  readonly before: number
  /** Removes the oldest turns until the journal is no larger. */
  readonly maxBytes: number
}

interface CleanUp extends Limits {
  /** Maximum number of turns to remove; default all. */
  readonly most?: number
  /** Requested by a person or a program, not automatic. */
  readonly isAsked: boolean
  readonly signal?: AbortSignal | undefined
}

/** A turn to be removed. */
export interface Victim {
  readonly id: number
  readonly turnId: string
  readonly sessionId: string
  readonly traceId: string
  readonly startedAt: number
}

export const VICTIM: string = columnsOf('id turnId sessionId traceId startedAt')

/** Removes turns, or reports what would be removed. @throws CriaError `journal_failed` when the disk is too full to remove even one turn. */
export async function collectGarbage(journal: Journal, options: GcOptions): Promise<GcReport> {
  const limits = limitsOf(journal, options)
  return options.dryRun === true
    ? planCleanUp(journal, limits)
    : cleanUp(journal, { ...limits, isAsked: true, signal: options.signal })
}

/** Runs the automatic clean-up of the day. @returns the report; `undefined` when nothing was removed. */
export async function tend(journal: Journal, signal?: AbortSignal): Promise<GcReport | undefined> {
  const { connection } = journal
  if (connection.readOnly) return undefined
  // The joined deltas of a long answer leave free pages.
  if (isMuchFree(connection)) await giveBack(connection, signal)
  if (!claimToday(journal)) return undefined
  const most = Math.max(LEAST_TURNS, Math.floor(endedTurns(connection) * MOST_SHARE))
  const report = await cleanUp(journal, { ...limitsOf(journal, {}), most, isAsked: false, signal })
  return report.turns === 0 ? undefined : report
}

/** Reserves the clean-up of the day for one process. A locked file means that another process writes; then the next day's clean-up suffices. */
function claimToday({ connection, now }: Journal): boolean {
  const at = now()
  const last = connection.get<{ at: number }>('SELECT tended_at AS at FROM upkeep')?.at
  // Also due when the last time lies in the future: the clock was ahead then.
  if (last !== undefined && Math.abs(at - last) < DAY_MS) return false
  const claim = `INSERT INTO upkeep (id, tended_at) VALUES (1, ?)
    ON CONFLICT DO UPDATE SET tended_at = excluded.tended_at WHERE abs(excluded.tended_at - tended_at) >= ${DAY_MS}`
  try {
    return connection.run(claim, [at]) > 0
  } catch {
    return false
  }
}

/** Returns the limits of a clean-up; a requested age is counted from the present clock. */
function limitsOf({ connection, now }: Journal, { maxAgeMs, maxBytes = MAX_BYTES }: GcOptions): Limits {
  if (maxAgeMs !== undefined) return { before: now() - maxAgeMs, maxBytes }
  const newest = `SELECT DISTINCT name AS day FROM use_sums WHERE scope = 'day' ORDER BY name DESC LIMIT ?`
  const days = connection.all<{ day: string }>(newest, [AGREEING_DAYS]).map(({ day }) => day)
  return { before: trustedTime(now(), days) - MAX_AGE_MS, maxBytes }
}

/**
 * Returns the time from which age is counted: the earlier of the clock and the fourth-newest day with turns, so that a clock
 * that is wrong for up to three days removes nothing. With fewer days, no turn is old.
 *
 * @param days days with turns (`2026-01-31`, UTC), newest first.
 */
export function trustedTime(now: number, days: readonly string[]): number {
  const time = Date.parse(days[AGREEING_DAYS - 1] ?? '')
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : Math.min(now, time)
}

function endedTurns(connection: Connection): number {
  return connection.get<{ n: number | null }>(`SELECT sum(turns) AS n FROM use_sums WHERE scope = 'day'`)?.n ?? 0
}

async function cleanUp(journal: Journal, options: CleanUp): Promise<GcReport> {
  const { connection } = journal
  const { isAsked, signal, most = Infinity } = options
  const before = usedBytes(connection)
  const removed = { turns: 0, sessions: 0, oldest: null as number | null, newest: null as number | null }
  await patient(() => connection.run('DELETE FROM answers WHERE until <= ?', [journal.now()]))
  let isTight = false
  for (;;) {
    if (signal?.aborted === true) break
    try {
      // On a nearly full disk the log is emptied before every step, so that the step needs little space.
      if (isTight) await giveBack(connection).catch(unlessFull)
      const victims = (): Iterable<Victim> =>
        oldTurns(connection, options, Math.min(most - removed.turns, isTight ? 1 : Infinity))
      const { gone, sessions } = await patient(() => connection.write(() => removeTurns(connection, victims())))
      if (gone.length === 0) break
      removed.oldest ??= gone[0]?.startedAt ?? null
      removed.newest = gone.at(-1)?.startedAt ?? null
      removed.turns += gone.length
      removed.sessions += sessions
    } catch (error) {
      if (!isFull(error)) throw error
      if (isTight) throw tooFull(connection, error)
      isTight = true
    }
    await sleep(PAUSE_MS)
  }
  if (removed.turns > 0) {
    await patient(() => connection.write(() => removeLeftovers(connection)))
    await patient(() => connection.write(() => removeUnusedPrompts(connection, false)))
  }
  if (isAsked || removed.turns > 0) await giveBack(connection, signal)
  const bytes = Math.max(0, before - usedBytes(connection))
  if (removed.turns > 0) {
    const note = { at: journal.now(), asked: Number(isAsked), ...removed, bytes: Math.round(bytes) }
    await patient(() => insertInto(connection, 'cleanups', note))
  }
  return { ...removed, bytes, dryRun: false }
}

/** Reports what would be removed, in time proportional to that. The bytes are estimated from the mean size of a turn. */
function planCleanUp({ connection }: Journal, { before, maxBytes }: Limits): GcReport {
  const used = usedBytes(connection)
  const all = endedTurns(connection)
  const bytesPerTurn = used / Math.max(1, all)
  const old = connection.get<{ n: number }>(`SELECT count(*) AS n FROM turns WHERE started_at < ? AND state <> 'open'`, [before])
  const tooMuch = used <= maxBytes ? 0 : Math.ceil((used - maxBytes) / bytesPerTurn)
  const going = `(SELECT session_id, started_at FROM turns WHERE state <> 'open' ORDER BY started_at, id LIMIT ?1)`
  const plan = connection.get<Pick<GcReport, 'turns' | 'sessions' | 'oldest' | 'newest'>>(
    `SELECT count(*) AS turns, min(started_at) AS oldest, max(started_at) AS newest,
       (SELECT count(*) FROM (SELECT session_id, count(*) AS turns FROM ${going} GROUP BY session_id) AS gone
        WHERE turns = (SELECT count(*) FROM turns WHERE turns.session_id = gone.session_id)) AS sessions
     FROM ${going}`,
    [Math.min(all, Math.max(old?.n ?? 0, tooMuch))],
  )
  const { turns = 0, sessions = 0, oldest = null, newest = null } = plan ?? {}
  return { turns, sessions, oldest, newest, bytes: Math.round(turns * bytesPerTurn), dryRun: true }
}

export function patient<T>(work: () => T): Promise<T> {
  return patiently(work, performance.now() + JOURNAL.busyTimeoutMs)
}

/** Yields the turns to remove, oldest first; looks for the next turn after the previous one was removed. */
function* oldTurns(connection: Connection, { before, maxBytes }: Limits, most: number): Generator<Victim, void, undefined> {
  for (let left = most; left > 0; left--) {
    const victim = connection.get<Victim>(`SELECT ${VICTIM} FROM turns WHERE state <> 'open' ORDER BY started_at, id LIMIT 1`)
    if (victim === undefined || (victim.startedAt >= before && usedBytes(connection) <= maxBytes)) return
    yield victim
  }
}

/** Removes turns for about `STEP_MS`, and sessions with their last turn; part of the caller's transaction. */
export function removeTurns(
  connection: Connection,
  victims: Iterable<Victim>,
  prepare?: (victim: Victim) => void,
): { readonly gone: readonly Victim[]; readonly sessions: number } {
  const deadline = performance.now() + STEP_MS
  const gone: Victim[] = []
  let sessions = 0
  for (const victim of victims) {
    prepare?.(victim)
    sessions += removeTurn(connection, victim)
    gone.push(victim)
    if (performance.now() >= deadline) break
  }
  return { gone, sessions }
}

/** Removes a turn and all rows that only it uses; returns the number of removed sessions. */
function removeTurn(connection: Connection, { id, turnId, sessionId, traceId }: Victim): number {
  const messages = connection.all<{ message: number }>(
    'SELECT message FROM turn_messages WHERE turn = ? UNION SELECT message FROM compacted_messages WHERE turn = ?',
    [id, id],
  )
  connection.run('DELETE FROM turn_search WHERE rowid = ?', [id])
  connection.run('DELETE FROM spans WHERE trace_id = ? AND turn_id = ?', [traceId, turnId])
  // Spans outside of turns stay as long as another turn of their trace does.
  connection.run(
    `DELETE FROM spans WHERE trace_id = ? AND turn_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM spans AS others WHERE others.trace_id = spans.trace_id AND others.turn_id IS NOT NULL)`,
    [traceId],
  )
  // Also deletes messages, events and tool calls of the turn.
  connection.run('DELETE FROM turns WHERE id = ?', [id])
  for (const { message } of messages) {
    connection.run(
      `DELETE FROM messages WHERE id = ? AND NOT EXISTS (SELECT 1 FROM turn_messages WHERE message = messages.id)
         AND NOT EXISTS (SELECT 1 FROM compacted_messages WHERE message = messages.id)`,
      [message],
    )
  }
  const gone = connection.run(
    'DELETE FROM sessions WHERE session_id = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.session_id)',
    [sessionId],
  )
  if (gone > 0) connection.run(`DELETE FROM spending WHERE scope = 'session' AND name = ?`, [sessionId])
  return gone
}

/** Removes rows that are older than the oldest turn and belong to no turn. */
function removeLeftovers(connection: Connection): void {
  const first = connection.get<{ at: number | null }>('SELECT min(started_at) AS at FROM turns')?.at ?? Number.MAX_SAFE_INTEGER
  connection.run('DELETE FROM feedback WHERE at < ?', [first])
  connection.run(`DELETE FROM spending WHERE scope = 'day' AND name < strftime('%Y-%m-%d', ? / 1000, 'unixepoch')`, [first])
  // Spans are stored nearly in the order they ended: the remaining spans without a turn come first.
  connection.run(
    `DELETE FROM spans WHERE turn_id IS NULL AND ended_at < ? AND id < coalesce((SELECT id FROM spans WHERE turn_id IS NOT NULL ORDER BY id LIMIT 1), id + 1)`,
    [first],
  )
}

/** Returns free space to the disk, step by step. */
export async function giveBack(connection: Connection, signal?: AbortSignal): Promise<void> {
  for (;;) {
    if (signal?.aborted === true || !(await patient(() => vacuum(connection, STEP_MS)))) break
    await sleep(PAUSE_MS)
  }
  truncateLog(connection)
}

/** Rethrows unless the disk is full: removing a turn then overwrites log pages that are no longer needed. */
function unlessFull(error: unknown): void {
  if (!isFull(error)) throw error
}

function tooFull({ path }: Connection, cause: unknown): CriaError {
  return new CriaError('journal_failed', `The journal ${path} cannot be made smaller: the disk is full.`, {
    cause,
    hint: 'Free about 5 MB on the same disk by other means, then try again: removing turns needs some space itself.',
  })
}
