/** Deletes the sessions of a user, of a tag, or one by its id, and removes their content from the file and its write-ahead log. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Deletion } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { truncateLog } from '../../util/sqlite/connection.ts'
import { giveBack, patient, PAUSE_MS, removeTurns, VICTIM } from './gc.ts'
import type { Victim } from './gc.ts'
import type { Journal } from './journal.ts'
import { endUnheldTurns } from './lease.ts'
import { removeUnusedPrompts } from './message.ts'
import { writeWithSpans } from './spans.ts'

/** Ways to select sessions: the query for their ids, and the account that is deleted with them. */
const SESSIONS = {
  sessionId: ['SELECT session_id AS id FROM sessions WHERE session_id = ?', undefined],
  userId: ['SELECT session_id AS id FROM sessions WHERE user_id = ?', 'user'],
  tag: ['SELECT DISTINCT session_id AS id FROM turn_tags JOIN turns ON turns.id = turn WHERE tag = ?', 'tag'],
} as const

/** Milliseconds to wait until no other process reads the write-ahead log. */
const LOG_WAIT_MS = 10_000
/** Pages of the search index merged in one transaction. */
const MERGED_PAGES = 200

/**
 * @param value deletes the sessions whose `member` has this value.
 * @throws CriaError `session_busy` while a turn of these sessions runs; earlier deletions remain.
 */
export async function erase(journal: Journal, member: keyof typeof SESSIONS, value: string): Promise<Deletion> {
  const { connection } = journal
  if (typeof value !== 'string' || value === '') throw new ConfigurationError(`\`${member}\` must be a non-empty text.`)
  const [query, account] = SESSIONS[member]
  const sessionsLeft = (): string[] => connection.all<{ id: string }>(query, [value]).map(({ id }) => id)
  const deleted = { turns: 0, sessions: 0 }
  await patient(() => writeWithSpans(journal, () => endUnheldTurns(journal)))
  for (; (await patient(sessionsLeft)).length > 0; await sleep(PAUSE_MS)) {
    const step = await patient(() => connection.write(() => eraseSome(connection, sessionsLeft())))
    deleted.turns += step.turns
    deleted.sessions += step.sessions
  }
  if (account !== undefined)
    await patient(() => connection.run('DELETE FROM accounts WHERE scope = ? AND name = ?', [account, value]))
  await patient(() => connection.write(() => removeUnusedPrompts(connection, true)))
  await mergeSearchIndex(connection)
  await giveBack(connection)
  // A file created without `auto_vacuum` keeps free pages and their content.
  const keepsPages = connection.get<{ auto_vacuum: number }>('PRAGMA auto_vacuum')?.auto_vacuum === 0
  if (keepsPages || connection.get('SELECT 1 FROM remnants') !== undefined) {
    await patient(() => connection.execute('VACUUM'))
    await patient(() => connection.run('DELETE FROM remnants'))
  }
  return { ...deleted, wiped: await wipeLog(connection) }
}

/** Deletes as many turns as one step takes. @returns the numbers of deleted turns and of wholly deleted sessions. */
function eraseSome(connection: Connection, sessions: readonly string[]): { readonly turns: number; readonly sessions: number } {
  const ids = JSON.stringify(sessions)
  refuseBusy(connection, ids)
  const { gone, sessions: whole } = removeTurns(connection, turnsOf(connection, sessions), (victim) => unlink(connection, victim))
  // Sessions whose turns were deleted before, or that never had a turn.
  const empty = connection.run(
    `DELETE FROM sessions WHERE session_id IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.session_id)`,
    [ids],
  )
  connection.run(
    'DELETE FROM feedback WHERE first_turn_id IN (SELECT value FROM json_each(?1)) OR second_turn_id IN (SELECT value FROM json_each(?1))',
    [JSON.stringify(gone.map(({ turnId }) => turnId))],
  )
  // Cached answers do not record their session, so all of them are deleted.
  if (gone.length > 0) connection.run('DELETE FROM answers')
  return { turns: gone.length, sessions: whole + empty }
}

/** @param sessions their ids, as JSON. @throws CriaError `session_busy` */
function refuseBusy(connection: Connection, sessions: string): void {
  const open = connection.get<{ turnId: string; sessionId: string }>(
    `SELECT turn_id AS turnId, session_id AS sessionId FROM leases CROSS JOIN turns ON turns.id = leases.turn
     WHERE session_id IN (SELECT value FROM json_each(?))`,
    [sessions],
  )
  if (open === undefined) return
  throw new CriaError('session_busy', `Session ${open.sessionId} cannot be deleted: its turn ${open.turnId} is still running.`, {
    hint: 'Cancel the turn or wait until it ends, then delete again.',
    details: { ...open },
  })
}

function* turnsOf(connection: Connection, sessions: readonly string[]): Generator<Victim, void, undefined> {
  for (const sessionId of sessions)
    for (const turn of turnsWhere(connection, 'session_id', sessionId)) yield* withNested(connection, turn)
}

function turnsWhere(connection: Connection, column: 'session_id' | 'turn_id', value: string): Victim[] {
  return connection.all<Victim>(`SELECT ${VICTIM} FROM turns WHERE ${column} = ? ORDER BY id DESC`, [value])
}

/** Returns the turns that tools of this turn started, then the turn itself: after a crash, the rest can still be found from it. */
function withNested(connection: Connection, turn: Victim): Victim[] {
  const made = connection
    .all<{ id: string }>(
      `SELECT DISTINCT turns.turn_id AS id FROM spans CROSS JOIN turns ON turns.turn_id = spans.turn_id
       CROSS JOIN events ON events.turn = turns.id AND events.seq = 0
       WHERE spans.trace_id = ? AND body ->> '$.calledBy.turnId' = ?`,
      [turn.traceId, turn.turnId],
    )
    .flatMap(({ id }) => turnsWhere(connection, 'turn_id', id))
  return [...made.flatMap((nested) => withNested(connection, nested)), turn]
}

/**
 * Removes the turn from the chain of its session: its successors then follow its predecessor.
 *
 * @throws CriaError `session_busy` for a session that a tool started and that still runs.
 */
function unlink(connection: Connection, { turnId, sessionId }: Victim): void {
  refuseBusy(connection, JSON.stringify([sessionId]))
  const before = '(SELECT parent_turn_id FROM turns WHERE turn_id = ?1)'
  connection.run(`UPDATE turns SET parent_turn_id = ${before} WHERE parent_turn_id = ?1 AND session_id = ?2`, [turnId, sessionId])
  connection.run(`UPDATE sessions SET head_turn_id = ${before} WHERE head_turn_id = ?1 AND session_id = ?2`, [turnId, sessionId])
}

/** Merges the search index: it keeps words of deleted rows until then (https://www.sqlite.org/fts5.html#the_merge_command). */
async function mergeSearchIndex(connection: Connection): Promise<void> {
  for (let pages = -MERGED_PAGES; ; pages = MERGED_PAGES) {
    const before = changes(connection)
    await patient(() => connection.run(`INSERT INTO turn_search (turn_search, rank) VALUES ('merge', ?)`, [pages]))
    if (changes(connection) - before < 2) return
    await sleep(PAUSE_MS)
  }
}

function changes(connection: Connection): number {
  return connection.get<{ n: number }>('SELECT total_changes() AS n')?.n ?? 0
}

/** Truncates the write-ahead log, which holds older versions of pages. @returns false while another process reads it. */
async function wipeLog(connection: Connection): Promise<boolean> {
  for (const deadline = performance.now() + LOG_WAIT_MS; performance.now() < deadline; await sleep(PAUSE_MS))
    if (truncateLog(connection)) return true
  return false
}
