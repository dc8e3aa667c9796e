/**
 * Removes turns, the oldest first, in small steps: each holds the lock for a moment, and between two of them other turns of this process
 * and other processes have theirs. Room that is freed is given back to the disk.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { CriaError } from '../../core/error.ts'
import type { GcReport } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isFull } from '../../util/sqlite/failure.ts'
import { patiently } from '../../util/sqlite/patience.ts'
import { truncateLog, usedBytes, vacuum } from '../../util/sqlite/vacuum.ts'
import { forgetOldAnswers } from './cache.ts'
import { JOURNAL } from './file.ts'
import type { Journal } from './journal.ts'
import { removeUnusedPrompts } from './prompts.ts'

/** Milliseconds for which a step holds the lock, about, and for which the next one waits. */
export const STEP_MS = 25
export const PAUSE_MS = 10

export interface CleanUp {
  /** Turns that started before go; epoch milliseconds. */
  readonly before: number
  /** The oldest go until the journal is no larger. */
  readonly maxBytes: number
  /** Turns that go at most; default all. */
  readonly most?: number
  /** Somebody asked for it. */
  readonly isAsked: boolean
  readonly signal?: AbortSignal | undefined
}

export interface Victim {
  readonly id: number
  readonly turnId: string
  readonly sessionId: string
  readonly traceId: string
  readonly startedAt: number
}

interface Tally {
  turns: number
  sessions: number
  oldest: number | null
  newest: number | null
}

/** @throws CriaError `journal_failed` when the disk is so full that not even one turn can be removed. */
export async function cleanUp(journal: Journal, options: CleanUp): Promise<GcReport> {
  const { connection } = journal
  const { isAsked, signal } = options
  const before = usedBytes(connection)
  const tally: Tally = { turns: 0, sessions: 0, oldest: null, newest: null }
  await patient(() => forgetOldAnswers(connection, journal.now()))
  let isTight = false
  for (;;) {
    if (signal?.aborted === true) break
    try {
      // Where there is little room, the log is emptied before every turn: then a step needs next to none.
      if (isTight) await giveBack(connection).catch(unlessFull)
      const removed = await patient(() => removeSome(connection, options, tally, isTight ? 1 : Infinity))
      if (removed === 0) break
    } catch (error) {
      if (!isFull(error)) throw error
      if (isTight) throw tooFull(connection, error)
      isTight = true
    }
    await sleep(PAUSE_MS)
  }
  if (tally.turns > 0) {
    await patient(() => removeLeftovers(connection))
    await patient(() => connection.write(() => removeUnusedPrompts(connection, false)))
  }
  if (isAsked || tally.turns > 0) await giveBack(connection, signal)
  const report = { ...tally, bytes: Math.max(0, before - usedBytes(connection)), dryRun: false }
  if (report.turns > 0) await patient(() => noteCleanUp(journal, report, isAsked))
  return report
}

/** The same, only looked at: takes time in proportion to what would go. The bytes are an estimate by the mean size of a turn. */
export function planCleanUp({ connection }: Journal, { before, maxBytes }: Pick<CleanUp, 'before' | 'maxBytes'>): GcReport {
  const used = usedBytes(connection)
  const all = connection.get<{ turns: number | null }>(`SELECT sum(turns) AS turns FROM use_sums WHERE scope = 'day'`)?.turns ?? 0
  const bytesPerTurn = used / Math.max(1, all)
  const tooOld = connection.get<{ n: number }>(`SELECT count(*) AS n FROM turns WHERE started_at < ? AND state <> 'open'`, [
    before,
  ])?.n
  const tooMuch = used <= maxBytes ? 0 : Math.ceil((used - maxBytes) / bytesPerTurn)
  const going = `(SELECT session_id, started_at FROM turns WHERE state <> 'open' ORDER BY started_at, id LIMIT ?)`
  const count = [Math.min(all, Math.max(tooOld ?? 0, tooMuch))]
  const found = connection.get<Tally>(
    `SELECT count(*) AS turns, min(started_at) AS oldest, max(started_at) AS newest FROM ${going}`,
    count,
  )
  const sessions = connection.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT session_id, count(*) AS turns FROM ${going} GROUP BY session_id) AS gone
     WHERE turns = (SELECT count(*) FROM turns WHERE turns.session_id = gone.session_id)`,
    count,
  )
  const turns = found?.turns ?? 0
  const bytes = Math.round(turns * bytesPerTurn)
  return { turns, sessions: sessions?.n ?? 0, oldest: found?.oldest ?? null, newest: found?.newest ?? null, bytes, dryRun: true }
}

export function patient<T>(work: () => T): Promise<T> {
  return patiently(work, performance.now() + JOURNAL.busyTimeoutMs)
}

/** Removes turns for as long as a step may take, in one transaction; counts them when it has succeeded. */
function removeSome(
  connection: Connection,
  { before, maxBytes, most = Infinity }: CleanUp,
  tally: Tally,
  atOnce: number,
): number {
  const next: Tally = { ...tally }
  const deadline = performance.now() + STEP_MS
  const removed = connection.write(() => {
    let turns = 0
    while (turns < atOnce && next.turns < most && (turns === 0 || performance.now() < deadline)) {
      const victim = connection.get<Victim>(
        `SELECT id, turn_id AS turnId, session_id AS sessionId, trace_id AS traceId, started_at AS startedAt
         FROM turns WHERE state <> 'open' ORDER BY started_at, id LIMIT 1`,
      )
      if (victim === undefined || (victim.startedAt >= before && usedBytes(connection) <= maxBytes)) break
      if (removeTurn(connection, victim)) next.sessions += 1
      next.oldest ??= victim.startedAt
      next.newest = victim.startedAt
      next.turns += 1
      turns += 1
    }
    return turns
  })
  Object.assign(tally, next)
  return removed
}

/** Removes a turn and what nothing refers to without it; says whether its session went with it. */
export function removeTurn(connection: Connection, { id, turnId, sessionId, traceId }: Victim): boolean {
  const messages = connection.all<{ message: number }>(
    'SELECT message FROM turn_messages WHERE turn = ? UNION SELECT message FROM compacted_messages WHERE turn = ?',
    [id, id],
  )
  connection.run('DELETE FROM turn_search WHERE rowid = ?', [id])
  connection.run('DELETE FROM spans WHERE trace_id = ? AND turn_id = ?', [traceId, turnId])
  // Spans around the turn stay as long as another turn of their trace does.
  connection.run(
    `DELETE FROM spans WHERE trace_id = ? AND turn_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM spans AS others WHERE others.trace_id = spans.trace_id AND others.turn_id IS NOT NULL)`,
    [traceId],
  )
  // Takes messages, events and tool calls of the turn with it.
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
  return gone > 0
}

/** Removes what is older than the oldest turn and belongs to none. */
function removeLeftovers(connection: Connection): void {
  connection.write(() => {
    const first = connection.get<{ at: number | null }>('SELECT min(started_at) AS at FROM turns')?.at ?? Number.MAX_SAFE_INTEGER
    connection.run('DELETE FROM feedback WHERE at < ?', [first])
    connection.run(`DELETE FROM spending WHERE scope = 'day' AND name < strftime('%Y-%m-%d', ? / 1000, 'unixepoch')`, [first])
    // Spans are in the order they ended, nearly: those of no turn that are left are the first ones.
    connection.run(
      `DELETE FROM spans WHERE turn_id IS NULL AND ended_at < ? AND id < coalesce((SELECT id FROM spans WHERE turn_id IS NOT NULL ORDER BY id LIMIT 1), id + 1)`,
      [first],
    )
  })
}

function noteCleanUp({ connection, now }: Journal, { turns, sessions, oldest, newest, bytes }: GcReport, isAsked: boolean): void {
  connection.run('INSERT INTO cleanups (at, asked, turns, sessions, oldest, newest, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)', [
    now(),
    Number(isAsked),
    turns,
    sessions,
    oldest,
    newest,
    Math.round(bytes),
  ])
}

/** Gives free room back to the disk, step by step. */
export async function giveBack(connection: Connection, signal?: AbortSignal): Promise<void> {
  for (;;) {
    if (signal?.aborted === true || !(await patient(() => vacuum(connection, STEP_MS)))) break
    await sleep(PAUSE_MS)
  }
  truncateLog(connection)
}

/** The log may be in the way of the file: removing a turn writes over what is no longer needed of it. */
function unlessFull(error: unknown): void {
  if (!isFull(error)) throw error
}

function tooFull({ path }: Connection, cause: unknown): CriaError {
  return new CriaError('journal_failed', `The journal ${path} cannot be made smaller: the disk is full.`, {
    cause,
    hint: 'Free about 5 MB on the same disk by other means, then do this again: removing turns takes a little room itself.',
  })
}
