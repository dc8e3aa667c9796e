/** Opens, records and closes turns in the journal. */

import { NOTHING } from '../../core/budget.ts'
import { isCriaError } from '../../core/error.ts'
import type { JournalEntry, TurnClose, TurnOpen } from '../../core/recorder.ts'
import { isBusy } from '../../util/sqlite/file-kind.ts'
import { busySession, checkEvents, foreignSession, notHeld, notWaiting } from '../rules.ts'
import { insertInto } from './columns.ts'
import { endTurn, writeEntries } from './entries.ts'
import { foldDeltas, insertEnd } from './events.ts'
import type { Journal, OpenTurn } from './journal.ts'
import { dropLease, endUnheldTurns, renewLease, takeLease } from './lease.ts'
import { notePrompts } from './message.ts'
import { writeWithSpans } from './spans.ts'
import { countTurn } from './usage.ts'

export function openTurn(journal: Journal, turn: TurnOpen): void {
  const { connection } = journal
  const { sessionId, turnId } = turn
  const key = writeWithSpans(journal, () => {
    connection.run(
      `INSERT INTO sessions (session_id, created_at, last_turn_at, folder) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last_turn_at = max(coalesce(last_turn_at, 0), excluded.last_turn_at)`,
      [sessionId, turn.startedAt, turn.startedAt, journal.folder ?? null],
    )
    claimSession(journal, turn)
    if (turn.exclusive) {
      makeWay(journal, sessionId)
      checkWaiting(journal, turn)
    }
    const inserted = insertTurn(journal, turn)
    takeLease(journal, inserted)
    notePrompts(connection, inserted, turn)
    return inserted
  })
  const fresh = { nextSeq: 0, nextPosition: 0, assembled: new Set<string>(), counted: NOTHING, failing: false }
  journal.open.set(turnId, { key, turnId, sessionId, ...fresh, decides: turn.decides !== undefined })
}

export function record(journal: Journal, turnId: string, entries: readonly JournalEntry[]): void {
  const turn = heldTurn(journal, turnId)
  const events = entries.flatMap((entry) => (entry.type === 'event' ? [entry.event] : []))
  checkEvents(turn, turn.nextSeq, events)
  const written = attempt(journal, turn, () => {
    renewLease(journal, turn)
    // From now on this turn owns the decided calls and their results.
    if (turn.decides && entries.some(({ type }) => type === 'messages')) endWaiting(journal, turn.sessionId)
    return writeEntries(journal.connection, turn, entries)
  })
  // Counts only committed entries: after a failure the same entries may be written again.
  turn.nextSeq += events.length
  turn.nextPosition = written.nextPosition
  if (written.nextPosition > 0) turn.decides = false
  for (const id of written.assembled) turn.assembled.add(id)
}

export function closeTurn(journal: Journal, turnId: string, close: TurnClose): void {
  const { connection } = journal
  const turn = heldTurn(journal, turnId)
  checkEvents(turn, turn.nextSeq, [close.event], close)
  attempt(journal, turn, () => {
    dropLease(journal, turn)
    const textMessage = insertEnd(connection, turn, close.event, close.text)
    foldDeltas(connection, turn)
    countTurn(connection, turn, close)
    endTurn(connection, turn, { ...close, latencyMs: close.metrics.durationMs, textMessage })
  })
  journal.open.delete(turnId)
}

/** Assigns the session to the user. @throws CriaError for a session of another user. */
function claimSession({ connection }: Journal, { sessionId, userId }: TurnOpen): void {
  if (userId === undefined) return
  const claim = 'UPDATE sessions SET user_id = ?1 WHERE session_id = ?2 AND coalesce(user_id, ?1) = ?1'
  if (connection.run(claim, [userId, sessionId]) === 0) throw foreignSession(sessionId, userId)
}

/** Ends an abandoned exclusive turn of the session. @throws CriaError while another exclusive turn is running. */
function makeWay(journal: Journal, sessionId: string): void {
  // A turn of this recorder whose writes fail is given up when the next turn opens.
  const givenUp = [...journal.open.values()].filter((turn) => turn.failing && turn.sessionId === sessionId)
  endUnheldTurns(journal, { sessionId, givenUp: new Set(givenUp.map((turn) => turn.key)) })
  const running = journal.connection.get<{ turn_id: string }>(
    'SELECT turn_id FROM leases CROSS JOIN turns ON turns.id = leases.turn WHERE session_id = ? AND exclusive',
    [sessionId],
  )
  if (running !== undefined) throw busySession(sessionId, running.turn_id)
}

/** Ends a waiting turn of the session, unless this turn decides it. */
function checkWaiting(journal: Journal, { sessionId, decides }: TurnOpen): void {
  if (decides === undefined) {
    endWaiting(journal, sessionId)
    return
  }
  const waits = journal.connection.get(
    'SELECT 1 FROM waiting JOIN turns ON turns.id = turn WHERE turn_id = ? AND waiting.session_id = ?',
    [decides, sessionId],
  )
  if (waits === undefined) throw notWaiting(sessionId, decides)
}

function endWaiting({ connection }: Journal, sessionId: string): void {
  connection.run('DELETE FROM waiting WHERE session_id = ?', [sessionId])
}

function insertTurn({ connection }: Journal, turn: TurnOpen): number {
  const { turnId, sessionId, model, bot, temperature, promptHash, startedAt, traceId, spanId, decides } = turn
  const session = connection.get<{ head: string | null }>('SELECT head_turn_id AS head FROM sessions WHERE session_id = ?', [
    sessionId,
  ])
  const opened = { turnId, sessionId, model, temperature, promptHash, startedAt, traceId, spanId }
  const key = insertInto(connection, 'turns', {
    ...opened,
    parentTurnId: session?.head ?? null,
    exclusive: Number(turn.exclusive),
    botKind: bot?.kind ?? null,
    botName: bot?.name ?? null,
    question: turn.question.toWellFormed(),
  })
  if (decides !== undefined) {
    const decided = '(SELECT question FROM turns WHERE turn_id = ?)'
    connection.run(`UPDATE turns SET question = coalesce(${decided}, question) WHERE id = ?`, [decides, key])
  }
  for (const tag of turn.tags ?? [])
    connection.run('INSERT INTO turn_tags (tag, turn) VALUES (?, ?) ON CONFLICT DO NOTHING', [tag, key])
  return key
}

export function heldTurn(journal: Journal, turnId: string): OpenTurn {
  const turn = journal.open.get(turnId)
  if (turn !== undefined) return turn
  const row = journal.connection.get<{ state: string }>('SELECT state FROM turns WHERE turn_id = ?', [turnId])
  throw notHeld(turnId, row?.state)
}

/** Writes in one transaction, and notes a failure. */
function attempt<T>(journal: Journal, turn: OpenTurn, work: () => T): T {
  try {
    const result = writeWithSpans(journal, work)
    turn.failing = false
    return result
  } catch (error) {
    // For a lock, the caller waits and tries again.
    if (!isBusy(error)) turn.failing = true
    if (isCriaError(error) && error.code === 'turn_lost') journal.open.delete(turn.turnId)
    throw error
  }
}
