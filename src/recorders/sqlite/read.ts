/** Implements the reader: lists, whole turns, events, and the conversation of a session. */

import type { ErrorInfo } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Message } from '../../core/message.ts'
import type {
  FeedbackRecord,
  JournalReader,
  TurnDetail,
  TurnMetrics,
  TurnRow,
  TurnState,
  TurnSummary,
} from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { spokenIn } from '../unfinished.ts'
import { columnsOf, readRow, readText, textColumn } from './columns.ts'
import type { Damage } from './columns.ts'
import { readEvents } from './events.ts'
import type { Journal } from './journal.ts'
import { noticeLost } from './lease.ts'
import { listTurns, SUMMARY, toSummary } from './lists.ts'
import type { StoredSummary } from './lists.ts'
import { messagesOf, promptsOf, readCompaction, textReader, toMessages } from './message.ts'
import type { StoredMessage } from './message.ts'
import { readSpans, storeSpans } from './spans.ts'

/** A port whose methods all return synchronously. */
export type AtOnce<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => MaybePromise<infer Result>
    ? (...args: Args) => Result
    : Port[Name]
}

export type SqliteJournalReader = AtOnce<JournalReader>

export function createReader(journal: Journal): SqliteJournalReader {
  const { connection } = journal
  return {
    turns: (query = {}) => {
      noticeLost(journal)
      return listTurns(connection, query)
    },
    turn: (turnId) => {
      storeSpans(journal)
      noticeLost(journal, { turnId })
      return connection.snapshot(() => readTurn(connection, turnId))
    },
    events: (turnId, after) => {
      noticeLost(journal, { turnId })
      return eventsOf(connection, turnId, after)
    },
    history: (sessionId) => {
      noticeLost(journal, { sessionId })
      return connection.snapshot(() => readHistory(connection, sessionId))
    },
    spans: (traceId) => {
      storeSpans(journal)
      return readSpans(connection, traceId, undefined, [])
    },
    feedback: () => readFeedback(connection),
  }
}

type StoredTurn = StoredSummary &
  Omit<TurnRow, keyof TurnSummary | 'text' | 'ratingComment' | 'error' | 'metrics'> & {
    readonly text: Uint8Array
    readonly textMessage: number | null
    readonly ratingComment: Uint8Array | null
    readonly error: string | null
    readonly metrics: string | null
  }

const TURN = `${SUMMARY}, ${textColumn('text')}, ${textColumn('ratingComment')},
  ${columnsOf('textMessage temperature promptHash parentTurnId traceId spanId endedAt finishReason error metrics')}`

function readTurn(connection: Connection, turnId: string): TurnDetail | undefined {
  const row = connection.get<StoredTurn>(`SELECT ${TURN} FROM turns WHERE turn_id = ?`, [turnId])
  if (row === undefined) return undefined
  const damage: Damage = []
  const detail = {
    turn: toTurnRow(connection, row, damage),
    messages: messagesOf(connection, row.id, damage),
    events: readEvents(connection, { key: row.id, turnId, sessionId: row.sessionId }, -1, damage),
    spans: readSpans(connection, row.traceId, turnId, damage),
    ...promptsOf(connection, row.id),
    nested: readNested(connection, row.traceId, turnId),
  }
  return damage.length === 0 ? detail : { ...detail, damaged: damage }
}

function toTurnRow(connection: Connection, row: StoredTurn, damage: Damage): TurnRow {
  const { textMessage: holder, temperature, promptHash, parentTurnId, traceId, spanId, endedAt, finishReason } = row
  const parsed = <T>(what: string, json: string | null): T | null =>
    json === null ? null : (readRow(what, damage, () => JSON.parse(json) as T) ?? null)
  return {
    ...toSummary(row),
    text: holder === null ? readText(row.text) : (readRow('its text', damage, () => textReader(connection)(holder)) ?? ''),
    temperature,
    promptHash,
    parentTurnId,
    traceId,
    spanId,
    endedAt,
    finishReason,
    ratingComment: row.ratingComment === null ? null : readText(row.ratingComment),
    error: parsed<ErrorInfo>('its error', row.error),
    metrics: parsed<TurnMetrics>('the row of its metrics', row.metrics),
  }
}

/** Returns the turns of the same trace whose `start` event names a call of this turn. */
function readNested(connection: Connection, traceId: string, turnId: string): TurnDetail['nested'] {
  const rows = connection.all<StoredSummary & { readonly callId: string }>(
    `SELECT ${SUMMARY}, body ->> '$.calledBy.callId' AS callId
     FROM (SELECT DISTINCT turn_id AS nested FROM spans WHERE trace_id = ?) CROSS JOIN turns ON turns.turn_id = nested
     CROSS JOIN events ON events.turn = turns.id AND events.seq = 0
     WHERE body ->> '$.calledBy.turnId' = ? ORDER BY turns.id`,
    [traceId, turnId],
  )
  return rows.map((row) => ({ ...toSummary(row), callId: row.callId }))
}

function eventsOf(connection: Connection, turnId: string, after?: number): QueryEvent[] {
  const find = 'SELECT id AS key, session_id AS sessionId FROM turns WHERE turn_id = ?'
  const row = connection.get<{ key: number; sessionId: string }>(find, [turnId])
  return row === undefined ? [] : readEvents(connection, { ...row, turnId }, after)
}

/**
 * The turns from the head of the session back to its first, or to the last turn that compacted the conversation. Each has a greater key than
 * its predecessor.
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

function readHistory(connection: Connection, sessionId: string): Message[] {
  const compacted = connection.get<{ id: number }>(`${CHAIN} SELECT id FROM chain WHERE compacted_at IS NOT NULL`, [sessionId])
  const said = readSpoken(connection, sessionId)
  return compacted === undefined ? said : [...readCompaction(connection, compacted.id), ...said]
}

interface SaidInTurn extends StoredMessage {
  readonly key: number
  readonly turnId: string
  readonly sessionId: string
  readonly state: TurnState
}

function readSpoken(connection: Connection, sessionId: string): Message[] {
  const rows = connection.all<SaidInTurn>(
    `${CHAIN}
     SELECT turn AS key, ${columnsOf('turnId sessionId state messageId use body')}
     FROM chain CROSS JOIN turn_messages ON turn = chain.id CROSS JOIN messages ON messages.id = message
     WHERE role IN ('user', 'assistant', 'tool') AND position >= coalesce(compacted_at, 0) ORDER BY turn, position`,
    [sessionId],
  )
  const turns = Map.groupBy(rows, ({ key }) => key)
  return [...turns.values()].flatMap((said) => {
    const turn = said[0] as SaidInTurn
    // A conversation continues without damaged messages; `turn()` reports them.
    const messages = toMessages(said, [])
    return spokenIn(turn.turnId, messages, turn.state === 'done' ? [] : readEvents(connection, turn))
  })
}

type StoredFeedback = Omit<FeedbackRecord, 'question' | 'details'> & {
  readonly question: Uint8Array
  readonly details: string | null
}

function readFeedback(connection: Connection): FeedbackRecord[] {
  const rows = connection.all<StoredFeedback>(
    `SELECT at, choice, first_turn_id AS first, second_turn_id AS second, ${textColumn('question')}, details FROM feedback ORDER BY id`,
  )
  return rows.map(({ question, details, ...row }) => ({
    ...row,
    question: readText(question),
    ...(details === null ? {} : { details: JSON.parse(details) as JsonObject }),
  }))
}
