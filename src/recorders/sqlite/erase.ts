/** Deletes the sessions of a user, of a tag, or one by its id, and leaves nothing of what was said in them in the file or its log. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Deletion } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { truncateLog } from '../../util/sqlite/vacuum.ts'
import { giveBack, patient, PAUSE_MS, removeTurn, STEP_MS } from './gc.ts'
import type { Victim } from './gc.ts'
import { endUnheldTurns } from './lease.ts'
import type { Journal } from './journal.ts'
import { removeUnusedPrompts } from './prompts.ts'
import { writeWithSpans } from './spans.ts'

/** Which sessions go. */
export type Erased = { readonly sessionId: string } | { readonly userId: string } | { readonly tag: string }

/** Milliseconds to wait until no other process reads from the log. */
const LOG_WAIT_MS = 10_000
/** Pages of the search index that one transaction merges. */
const MERGED_PAGES = 200

/** @throws CriaError `session_busy` while a turn of these sessions runs; what was deleted until then stays deleted. */
export async function erase(journal: Journal, which: Erased): Promise<Deletion> {
  const { connection } = journal
  for (const [name, value] of Object.entries(which) as [string, unknown][]) {
    if (typeof value !== 'string' || value === '') throw new ConfigurationError(`\`${name}\` must be a text that is not empty.`)
  }
  const tally = { turns: 0, sessions: 0 }
  await patient(() => writeWithSpans(journal, () => endUnheldTurns(journal)))
  while (await patient(() => removeSome(connection, which, tally))) await sleep(PAUSE_MS)
  await patient(() => forgetAccounts(connection, which))
  await patient(() => connection.write(() => removeUnusedPrompts(connection)))
  await mergeSearchIndex(connection)
  await giveBack(connection)
  // A file that was made without `auto_vacuum` keeps its free pages, and what they hold.
  const keepsPages = connection.get<{ auto_vacuum: number }>('PRAGMA auto_vacuum')?.auto_vacuum === 0
  if (keepsPages || connection.get('SELECT 1 FROM remnants') !== undefined) {
    await patient(() => connection.execute('VACUUM'))
    await patient(() => connection.run('DELETE FROM remnants'))
  }
  return { ...tally, wiped: await wipeLog(connection) }
}

/** One transaction of about `STEP_MS`. @returns whether there is more to remove. */
function removeSome(connection: Connection, which: Erased, tally: { turns: number; sessions: number }): boolean {
  const deadline = performance.now() + STEP_MS
  const next = { ...tally }
  const isMore = connection.write(() => {
    const sessions = sessionsOf(connection, which)
    refuseBusy(connection, sessions)
    const gone: string[] = []
    for (const sessionId of sessions) {
      for (const turn of turnsWhere(connection, 'session_id = ?', sessionId)) {
        for (const victim of withNested(connection, turn)) {
          if (unlinkAndRemove(connection, victim)) next.sessions += 1
          gone.push(victim.turnId)
          next.turns += 1
        }
        if (performance.now() >= deadline) break
      }
      // A session whose turns have gone before, or that never had one.
      if (turnsWhere(connection, 'session_id = ?', sessionId).length === 0)
        next.sessions += connection.run('DELETE FROM sessions WHERE session_id = ?', [sessionId])
      if (performance.now() >= deadline) break
    }
    connection.run(
      'DELETE FROM feedback WHERE first_turn_id IN (SELECT value FROM json_each(?1)) OR second_turn_id IN (SELECT value FROM json_each(?1))',
      [JSON.stringify(gone)],
    )
    // Answers that may be given again do not say whose they were.
    if (gone.length > 0) connection.run('DELETE FROM answers')
    return sessionsOf(connection, which).length > 0
  })
  Object.assign(tally, next)
  return isMore
}

function sessionsOf(connection: Connection, which: Erased): string[] {
  const [sql, value] =
    'sessionId' in which
      ? ['SELECT session_id AS id FROM sessions WHERE session_id = ?', which.sessionId]
      : 'userId' in which
        ? ['SELECT session_id AS id FROM sessions WHERE user_id = ?', which.userId]
        : ['SELECT DISTINCT session_id AS id FROM turn_tags JOIN turns ON turns.id = turn WHERE tag = ?', which.tag]
  return connection.all<{ id: string }>(sql, [value]).map(({ id }) => id)
}

/** @throws CriaError `session_busy` */
function refuseBusy(connection: Connection, sessions: readonly string[]): void {
  const open = connection.get<{ turnId: string; sessionId: string }>(
    `SELECT turn_id AS turnId, session_id AS sessionId FROM leases CROSS JOIN turns ON turns.id = leases.turn
     WHERE session_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(sessions)],
  )
  if (open === undefined) return
  throw new CriaError('session_busy', `Session ${open.sessionId} cannot be deleted: its turn ${open.turnId} is still running.`, {
    hint: 'Cancel the turn or wait until it ends, then delete again.',
    details: { ...open },
  })
}

function turnsWhere(connection: Connection, condition: string, value: string): Victim[] {
  return connection.all<Victim>(
    `SELECT id, turn_id AS turnId, session_id AS sessionId, trace_id AS traceId, started_at AS startedAt FROM turns WHERE ${condition} ORDER BY id DESC`,
    [value],
  )
}

/** The turn after the turns that its tools have made: what a kill leaves can still be found from the turn. */
function withNested(connection: Connection, turn: Victim): Victim[] {
  const made = connection
    .all<{ id: string }>(
      `SELECT DISTINCT turns.turn_id AS id FROM spans CROSS JOIN turns ON turns.turn_id = spans.turn_id
       CROSS JOIN events ON events.turn = turns.id AND events.seq = 0
       WHERE spans.trace_id = ? AND body ->> '$.calledBy.turnId' = ?`,
      [turn.traceId, turn.turnId],
    )
    .flatMap(({ id }) => turnsWhere(connection, 'turn_id = ?', id))
  return [...made.flatMap((nested) => withNested(connection, nested)), turn]
}

/** The session, where it stays, goes on without the turn. @returns whether its session went with it. */
function unlinkAndRemove(connection: Connection, victim: Victim): boolean {
  const { turnId, sessionId } = victim
  // One that a tool made in another session, and left running.
  refuseBusy(connection, [sessionId])
  const before = '(SELECT parent_turn_id FROM turns WHERE turn_id = ?1)'
  connection.run(`UPDATE turns SET parent_turn_id = ${before} WHERE parent_turn_id = ?1 AND session_id = ?2`, [turnId, sessionId])
  connection.run(`UPDATE sessions SET head_turn_id = ${before} WHERE head_turn_id = ?1 AND session_id = ?2`, [turnId, sessionId])
  return removeTurn(connection, victim)
}

function forgetAccounts(connection: Connection, which: Erased): void {
  if ('userId' in which) connection.run(`DELETE FROM accounts WHERE scope = 'user' AND name = ?`, [which.userId])
  if ('tag' in which) connection.run(`DELETE FROM accounts WHERE scope = 'tag' AND name = ?`, [which.tag])
}

/** The index keeps the words of deleted rows until its parts are merged (https://www.sqlite.org/fts5.html#the_merge_command). */
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

/** The log holds older versions of pages until it is emptied, which a reader of another process can hold up. */
async function wipeLog(connection: Connection): Promise<boolean> {
  for (const deadline = performance.now() + LOG_WAIT_MS; performance.now() < deadline; await sleep(PAUSE_MS))
    if (truncateLog(connection)) return true
  return false
}
