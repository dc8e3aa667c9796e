/** The read side: lists, whole turns, events to re-attach to, and the conversation of a session. */

import type { SQLInputValue } from 'node:sqlite'
import { isCriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import type { FeedbackRecord, JournalReader, ListTurns, TurnDetail, TurnList, TurnState } from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { spokenIn } from '../history.ts'
import { limitOf, numberOf } from '../rules.ts'
import { conditionsOf, foundBy } from './search.ts'
import { readCompaction } from './compaction.ts'
import { readRow, readText, textColumn } from './columns.ts'
import type { Damage } from './columns.ts'
import { readEvents, textReader } from './events.ts'
import type { Journal } from './journal.ts'
import { endUnheldTurns } from './lease.ts'
import type { Which } from './lease.ts'
import { decodeMessage } from './message.ts'
import type { MessageUse } from './message.ts'
import { promptsOf } from './prompts.ts'
import { readSpans, writeWithSpans } from './spans.ts'
import { SUMMARY_COLUMNS, toSummary, toTurnRow, TURN_COLUMNS } from './summary.ts'
import type { StoredSummary, StoredTurn } from './summary.ts'

/** The reader of an SQLite journal; none of its methods waits for anything. */
export interface SqliteJournalReader extends JournalReader {
  turns(query?: ListTurns): TurnList
  turn(turnId: string): TurnDetail | undefined
  events(turnId: string, after?: number): readonly QueryEvent[]
  history(sessionId: string): readonly Message[]
  spans(traceId: string): readonly SpanRecord[]
  feedback(): readonly FeedbackRecord[]
}

export function createReader(journal: Journal): SqliteJournalReader {
  return {
    turns: (query = {}) => {
      noticeLost(journal)
      return listTurns(journal, query)
    },
    turn: (turnId) => {
      storeSpans(journal)
      noticeLost(journal, { turnId })
      return journal.connection.snapshot(() => readTurn(journal, turnId))
    },
    events: (turnId, after) => {
      noticeLost(journal, { turnId })
      return eventsOf(journal, turnId, after)
    },
    history: (sessionId) => {
      noticeLost(journal, { sessionId })
      return journal.connection.snapshot(() => readHistory(journal, sessionId))
    },
    spans: (traceId) => {
      storeSpans(journal)
      return readSpans(journal.connection, traceId, undefined, [])
    },
    feedback: () => readFeedback(journal),
  }
}

/** A recorder reads what it was given, also where it was not stored yet. */
function storeSpans(journal: Journal): void {
  if (journal.spans.length === 0 || journal.connection.readOnly) return
  try {
    writeWithSpans(journal, () => {})
  } catch (error) {
    if (!isCriaError(error) || error.code !== 'journal_failed') throw error
  }
}

/** Marks what is lost, where that is possible: on a full disk everything can still be read. */
function noticeLost(journal: Journal, which?: Which): void {
  try {
    endUnheldTurns(journal, which)
  } catch (error) {
    if (!isCriaError(error) || error.code !== 'journal_failed') throw error
  }
}

function listTurns({ connection }: Journal, query: ListTurns): TurnList {
  const limit = limitOf(query.limit)
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  const only = (condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(value)
  }
  if (query.search !== undefined) {
    const found = foundBy(query.search)
    if (found === undefined) return { turns: [], nextCursor: null }
    conditions.push(`id IN ${found.turns}`)
    values.push(...found.values)
  }
  // The second condition is that of the index.
  if (query.status === 'waiting') conditions.push('id IN (SELECT turn FROM waiting)')
  else
    only(
      query.status === 'done' ? `state = ? AND id NOT IN (SELECT turn FROM waiting)` : "state = ? AND state <> 'done'",
      query.status,
    )
  only('model = ?', query.model)
  only('session_id = ?', query.sessionId)
  const chosen = conditionsOf(query)
  conditions.push(...chosen.conditions)
  values.push(...chosen.values)
  only('started_at >= ?', query.since)
  only('started_at < ?', query.until)
  only('? IN (bot_kind, bot_name)', query.bot)
  only('rating IS ?', query.rating)
  only('id IN (SELECT turn FROM tool_calls WHERE name = ?)', query.tool)
  only(`metrics ->> '$.slow' = ?`, query.slow === true ? 1 : undefined)
  if (query.nested === false) conditions.push(NOT_NESTED)
  only('id < ?', query.cursor === undefined ? undefined : numberOf(query.cursor))

  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  // One more than asked for tells whether there are more.
  const damage: Damage = []
  const rows =
    readRow('', [], () =>
      connection.all<StoredSummary>(`SELECT ${SUMMARY_COLUMNS} FROM turns ${where} ORDER BY id DESC LIMIT ?`, [
        ...values,
        limit + 1,
      ]),
    ) ?? listOneByOne(connection, conditions, values, limit + 1, damage)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? String(last.id) : null
  return { turns: shown.map(toSummary), nextCursor, ...(damage.length === 0 ? {} : { damaged: damage }) }
}

/** The first event of a turn that a tool made names the call. */
export const NOT_NESTED: string = `NOT EXISTS (SELECT 1 FROM events WHERE turn = turns.id AND seq = 0 AND body ->> '$.calledBy' IS NOT NULL)`

/** Where a page of the table is damaged: the keys come from an index, which stands on other pages. */
function listOneByOne(
  connection: Connection,
  conditions: readonly string[],
  values: readonly SQLInputValue[],
  most: number,
  damage: Damage,
): StoredSummary[] {
  const keys = connection.all<{ id: number }>(
    'SELECT id FROM turns INDEXED BY turns_by_start WHERE started_at IS NOT NULL ORDER BY id DESC',
  )
  const rows: StoredSummary[] = []
  const where = [...conditions, 'id = ?'].join(' AND ')
  for (const { id } of keys) {
    if (rows.length === most) break
    const row = readRow(`the turn in row ${id}`, damage, () =>
      connection.all<StoredSummary>(`SELECT ${SUMMARY_COLUMNS} FROM turns WHERE ${where}`, [...values, id]),
    )
    rows.push(...(row ?? []))
  }
  return rows
}

function readTurn(journal: Journal, turnId: string): TurnDetail | undefined {
  const { connection } = journal
  const row = connection.get<StoredTurn>(`SELECT ${TURN_COLUMNS} FROM turns WHERE turn_id = ?`, [turnId])
  if (row === undefined) return undefined
  const damage: Damage = []
  const detail = {
    turn: toTurnRow(row, damage, textReader(connection)),
    messages: messagesOf(journal, row.id, damage),
    events: readEvents(connection, { key: row.id, turnId, sessionId: row.session_id }, -1, damage),
    spans: readSpans(connection, row.trace_id, turnId, damage),
    ...promptsOf(connection, row.id),
    nested: readNested(journal, row.trace_id, turnId),
  }
  return damage.length === 0 ? detail : { ...detail, damaged: damage }
}

/** Turns of the same trace whose `start` says that a call of this turn made them. */
function readNested({ connection }: Journal, traceId: string, turnId: string): TurnDetail['nested'] {
  const rows = connection.all<StoredSummary & { readonly call_id: string }>(
    `SELECT ${SUMMARY_COLUMNS.replace(/^id,/, 'turns.id,')}, body ->> '$.calledBy.callId' AS call_id
     FROM (SELECT DISTINCT turn_id AS nested FROM spans WHERE trace_id = ?) CROSS JOIN turns ON turns.turn_id = nested
     CROSS JOIN events ON events.turn = turns.id AND events.seq = 0
     WHERE body ->> '$.calledBy.turnId' = ? ORDER BY turns.id`,
    [traceId, turnId],
  )
  return rows.map((row) => ({ ...toSummary(row), callId: row.call_id }))
}

function eventsOf({ connection }: Journal, turnId: string, after?: number): QueryEvent[] {
  const row = connection.get<{ id: number; session_id: string }>('SELECT id, session_id FROM turns WHERE turn_id = ?', [turnId])
  return row === undefined ? [] : readEvents(connection, { key: row.id, turnId, sessionId: row.session_id }, after)
}

interface StoredUse {
  readonly message_id: string
  readonly use: string | null
  readonly body: string
}

function messagesOf({ connection }: Journal, turn: number, damage: Damage): Message[] {
  const rows = readRow('the list of its messages', damage, () =>
    connection.all<StoredUse>(
      `SELECT message_id, use, body FROM turn_messages JOIN messages ON messages.id = message WHERE turn = ? ORDER BY position`,
      [turn],
    ),
  )
  return (rows ?? []).flatMap((row) => toMessages(row, damage))
}

/** The message of a row; none where it cannot be read. */
function toMessages(row: StoredUse, damage: Damage): Message[] {
  const message = readRow(`message ${row.message_id}`, damage, () => toMessage(row))
  return message === undefined ? [] : [message]
}

function toMessage({ message_id, use, body }: StoredUse): Message {
  return decodeMessage(message_id, body, use === null ? undefined : (JSON.parse(use) as MessageUse))
}

interface SaidInTurn extends StoredUse {
  readonly turn: number
  readonly turn_id: string
  readonly session_id: string
  readonly state: TurnState
}

/**
 * The turns from the head of the session back to its first, or to the last one that compacted the conversation. Each has a greater key than
 * the one it follows.
 */
const CHAIN = `
  WITH RECURSIVE chain (id, turn_id, session_id, state, parent_turn_id, compacted_at) AS (
    SELECT id, turn_id, session_id, state, parent_turn_id, (SELECT position FROM compactions WHERE turn = id)
    FROM turns WHERE turn_id = (SELECT head_turn_id FROM sessions WHERE session_id = ?)
    UNION ALL
    SELECT turns.id, turns.turn_id, turns.session_id, turns.state, turns.parent_turn_id,
      (SELECT position FROM compactions WHERE turn = turns.id)
    FROM chain CROSS JOIN turns ON turns.turn_id = chain.parent_turn_id WHERE chain.compacted_at IS NULL
  )`

function readHistory(journal: Journal, sessionId: string): Message[] {
  const compacted = journal.connection.get<{ id: number }>(`${CHAIN} SELECT id FROM chain WHERE compacted_at IS NOT NULL`, [
    sessionId,
  ])
  const said = readSpoken(journal, sessionId)
  return compacted === undefined ? said : [...readCompaction(journal.connection, compacted.id), ...said]
}

function readSpoken({ connection }: Journal, sessionId: string): Message[] {
  const rows = connection.all<SaidInTurn>(
    `${CHAIN}
     SELECT turn, turn_id, session_id, state, message_id, use, body
     FROM chain CROSS JOIN turn_messages ON turn = chain.id CROSS JOIN messages ON messages.id = message
     WHERE role IN ('user', 'assistant', 'tool') AND position >= coalesce(compacted_at, 0) ORDER BY turn, position`,
    [sessionId],
  )
  const turns = Map.groupBy(rows, (row) => row.turn)
  return [...turns.values()].flatMap((said) => {
    const { turn, turn_id: turnId, session_id, state } = said[0] as SaidInTurn
    // A conversation goes on without what is damaged; `turn()` names it.
    const messages = said.flatMap((row) => toMessages(row, []))
    return spokenIn(
      turnId,
      messages,
      state === 'done' ? [] : readEvents(connection, { key: turn, turnId, sessionId: session_id }),
    )
  })
}

interface StoredFeedback extends Pick<FeedbackRecord, 'at' | 'choice' | 'first' | 'second'> {
  readonly question: Uint8Array
  readonly details: string | null
}

function readFeedback({ connection }: Journal): FeedbackRecord[] {
  const rows = connection.all<StoredFeedback>(
    `SELECT at, choice, first_turn_id AS first, second_turn_id AS second, ${textColumn('question')}, details FROM feedback ORDER BY id`,
  )
  return rows.map(({ question, details, ...row }) => ({
    ...row,
    question: readText(question),
    ...(details === null ? {} : { details: JSON.parse(details) as JsonObject }),
  }))
}
