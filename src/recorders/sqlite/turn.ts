/** The life of a turn in the journal: opened, recorded, closed. */

import { NOTHING } from '../../core/budget.ts'
import { isCriaError } from '../../core/error.ts'
import type { JournalEntry, TurnClose, TurnOpen } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isBusy } from '../../util/sqlite/failure.ts'
import { busySession, checkEvents, foreignSession, notHeld, notWaiting } from '../rules.ts'
import { writeEntries } from './entries.ts'
import { endTurn } from './end.ts'
import { foldDeltas } from './events.ts'
import type { Journal, OpenTurn } from './journal.ts'
import { insertEnd } from './large-text.ts'
import { dropLease, endUnheldTurns, renewLease, takeLease } from './lease.ts'
import { notePrompts } from './prompts.ts'
import { writeWithSpans } from './spans.ts'
import { countTurn } from './spending.ts'

export function openTurn(journal: Journal, turn: TurnOpen): void {
  const { connection } = journal
  const key = writeWithSpans(journal, () => {
    connection.run(
      `INSERT INTO sessions (session_id, created_at, last_turn_at, folder) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last_turn_at = max(coalesce(last_turn_at, 0), excluded.last_turn_at)`,
      [turn.sessionId, turn.startedAt, turn.startedAt, journal.folder ?? null],
    )
    claimSession(journal, turn)
    if (turn.exclusive) {
      makeWay(journal, turn.sessionId)
      checkWaiting(journal, turn)
    }
    const inserted = insertTurn(journal, turn)
    takeLease(journal, inserted)
    notePrompts(journal.connection, inserted, turn)
    return inserted
  })
  const { sessionId, turnId } = turn
  journal.open.set(turnId, {
    key,
    turnId,
    sessionId,
    nextSeq: 0,
    nextPosition: 0,
    assembled: new Set(),
    counted: NOTHING,
    decides: turn.decides !== undefined,
    failing: false,
  })
}

export function record(journal: Journal, turnId: string, entries: readonly JournalEntry[]): void {
  const turn = heldTurn(journal, turnId)
  const events = entries.flatMap((entry) => (entry.type === 'event' ? [entry.event] : []))
  checkEvents(turn, turn.nextSeq, events)
  const written = attempt(journal, turn, () => {
    renewLease(journal, turn)
    const isTakenUp = turn.decides && entries.some(({ type }) => type === 'messages')
    // From here on the calls belong to this turn, and what becomes of them is known by it.
    if (isTakenUp) endWaiting(journal.connection, turn.sessionId)
    return writeEntries(journal.connection, turn, entries)
  })
  // Only what is in the file counts: after a failure the same entries may come again.
  turn.nextSeq += events.length
  turn.nextPosition = written.nextPosition
  if (written.nextPosition > 0) turn.decides = false
  for (const id of written.assembled) turn.assembled.add(id)
}

export function closeTurn(journal: Journal, turnId: string, close: TurnClose): void {
  const turn = heldTurn(journal, turnId)
  checkEvents(turn, turn.nextSeq, [close.event], close)
  attempt(journal, turn, () => {
    dropLease(journal, turn)
    const textMessage = insertEnd(journal.connection, turn, close.event, close.text)
    foldDeltas(journal.connection, turn)
    countTurn(journal.connection, turn, close)
    endTurn(journal.connection, turn, { ...close, latencyMs: close.metrics.durationMs, textMessage })
  })
  journal.open.delete(turnId)
}

/** The session becomes the user's, unless it is another's. */
function claimSession({ connection }: Journal, { sessionId, userId }: TurnOpen): void {
  if (userId === undefined) return
  const claimed = connection.run('UPDATE sessions SET user_id = ?1 WHERE session_id = ?2 AND coalesce(user_id, ?1) = ?1', [
    userId,
    sessionId,
  ])
  if (claimed > 0) return
  throw foreignSession(sessionId, userId)
}

/** Refuses when another exclusive turn of the session is running; one that nobody runs any more is ended. */
function makeWay(journal: Journal, sessionId: string): void {
  // A turn of our own that could not be written to the end has been given up by whoever opens the next.
  const givenUp = [...journal.open.values()].filter((turn) => turn.failing && turn.sessionId === sessionId)
  endUnheldTurns(journal, { sessionId, givenUp: new Set(givenUp.map((turn) => turn.key)) })
  const running = journal.connection.get<{ turn_id: string }>(
    'SELECT turn_id FROM leases CROSS JOIN turns ON turns.id = leases.turn WHERE session_id = ? AND exclusive',
    [sessionId],
  )
  if (running === undefined) return
  throw busySession(sessionId, running.turn_id)
}

/** The session goes on: a turn of it that waits is over, unless this one takes it up. */
function checkWaiting({ connection }: Journal, { sessionId, decides }: TurnOpen): void {
  if (decides === undefined) {
    endWaiting(connection, sessionId)
    return
  }
  const waits = connection.get(
    'SELECT 1 FROM waiting JOIN turns ON turns.id = turn WHERE turn_id = ? AND waiting.session_id = ?',
    [decides, sessionId],
  )
  if (waits !== undefined) return
  throw notWaiting(sessionId, decides)
}

function endWaiting(connection: Connection, sessionId: string): void {
  connection.run('DELETE FROM waiting WHERE session_id = ?', [sessionId])
}

function insertTurn({ connection }: Journal, turn: TurnOpen): number {
  const key = connection.insert(
    `INSERT INTO turns (turn_id, session_id, parent_turn_id, exclusive, model, bot_kind, bot_name, temperature, prompt_hash, trace_id,
       span_id, started_at, question)
     VALUES (?, ?, (SELECT head_turn_id FROM sessions WHERE session_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?,
       coalesce((SELECT question FROM turns WHERE turn_id = ?), ?))`,
    [
      turn.turnId,
      turn.sessionId,
      turn.sessionId,
      Number(turn.exclusive),
      turn.model,
      turn.bot?.kind ?? null,
      turn.bot?.name ?? null,
      turn.temperature,
      turn.promptHash,
      turn.traceId,
      turn.spanId,
      turn.startedAt,
      turn.decides ?? null,
      turn.question.toWellFormed(),
    ],
  )
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

/** Writes in one transaction, and remembers when that did not work. */
function attempt<T>(journal: Journal, turn: OpenTurn, work: () => T): T {
  try {
    const result = writeWithSpans(journal, work)
    turn.failing = false
    return result
  } catch (error) {
    // A lock is waited for, and the same is tried again.
    if (!isBusy(error)) turn.failing = true
    if (isCriaError(error) && error.code === 'turn_lost') journal.open.delete(turn.turnId)
    throw error
  }
}
