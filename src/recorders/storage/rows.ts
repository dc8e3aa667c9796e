/** Defines the keys and JSON rows of a journal, and reads its turns and sessions. */

import { ConfigurationError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { JournalRows } from '../../core/storage.ts'
import type { Message } from '../../core/message.ts'
import type {
  ListTurns,
  PromptRef,
  TurnClose,
  TurnDetail,
  TurnList,
  TurnOpen,
  TurnRow,
  TurnState,
  TurnSummary,
} from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { limitOf, numberOf } from '../rules.ts'
import { wellFormedJson } from '../sqlite/columns.ts'
import { compactedTo, spokenIn } from '../unfinished.ts'

/** A stored turn. */
export interface StoredTurn {
  /** Turns are numbered in the order in which they were opened, from 1. */
  readonly number: number
  readonly open: TurnOpen
  /** Predecessor of the turn in its session. */
  readonly parent: string | null
  readonly state: TurnState
  /** The recorder that holds the turn, and a description of its process. */
  readonly holder: string
  readonly owner: string
  /** End of the lease; epoch milliseconds. */
  readonly until: number
  readonly nextSeq: number
  /** Number of its messages. */
  readonly messages: number
  /** Ids of messages written with their `message` event. */
  readonly assembled: readonly string[]
  /** Idempotency keys of started tool calls without a result, by id. */
  readonly started: Readonly<Record<string, string>>
  /** The compacted conversation; messages from `position` on follow it. */
  readonly compacted?: { readonly position: number; readonly messages: readonly Message[] }
  /** Prompt versions that the turn used. */
  readonly prompts: readonly PromptRef[]
  readonly rating?: { readonly rating: number; readonly comment: string | null }
  readonly end?: StoredEnd
}

type StoredEnd = Pick<TurnClose, 'endedAt' | 'text' | 'usage' | 'costUsd' | 'error'> & {
  readonly latencyMs: number
  readonly finishReason: string | null
  readonly model: string
  readonly metrics: TurnClose['metrics'] | null
}

export interface StoredSession {
  /** The predecessor of the next turn. */
  readonly head: string | null
  /** The open exclusive turn. */
  readonly running: string | null
  /** The turn that waits for a decision. */
  readonly waiting: string | null
  /** The first user that one of its turns named. */
  readonly userId: string | null
}

const NEW_SESSION: StoredSession = { head: null, running: null, waiting: null, userId: null }

/** Sorts after every digit and letter. */
const END = '~'
const DIGITS = 10

export const KEY = {
  turn: (turnId: string): string => `turn/${escaped(turnId)}`,
  number: (number: number): string => `number/${padded(number)}`,
  open: (turnId: string): string => `open/${escaped(turnId)}`,
  session: (sessionId: string): string => `session/${escaped(sessionId)}`,
  event: (turnId: string, seq: number): string => `event/${escaped(turnId)}/${padded(seq)}`,
  message: (turnId: string, position: number): string => `message/${escaped(turnId)}/${padded(position)}`,
  prompt: (name: string, hash: string): string => `prompt/${escaped(name)}/${escaped(hash)}`,
  span: (traceId: string, number: number): string => `span/${escaped(traceId)}/${padded(number)}`,
  feedback: (number: number): string => `feedback/${padded(number)}`,
  count: (what: string): string => `count/${what}`,
}

function padded(number: number): string {
  return String(number).padStart(DIGITS, '0')
}

function escaped(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll(END, '%7E')
}

export async function get<Row>(rows: JournalRows, key: string): Promise<Row | undefined> {
  const text = await rows.get(key)
  return text === undefined ? undefined : (JSON.parse(text) as Row)
}

export async function set(rows: JournalRows, key: string, row: unknown): Promise<void> {
  await rows.set(key, wellFormedJson(row))
}

export function turnOf(rows: JournalRows, turnId: string): Promise<StoredTurn | undefined> {
  return get(rows, KEY.turn(turnId))
}

export function setTurn(rows: JournalRows, turn: StoredTurn): Promise<void> {
  return set(rows, KEY.turn(turn.open.turnId), turn)
}

export async function sessionOf(rows: JournalRows, sessionId: string): Promise<StoredSession> {
  return (await get<StoredSession>(rows, KEY.session(sessionId))) ?? NEW_SESSION
}

export function setSession(rows: JournalRows, sessionId: string, session: StoredSession): Promise<void> {
  return set(rows, KEY.session(sessionId), session)
}

/** Returns the next number of a kind of row, from 1. */
export async function counted(rows: JournalRows, what: string): Promise<number> {
  const next = Number((await rows.get(KEY.count(what))) ?? 0) + 1
  await rows.set(KEY.count(what), String(next))
  return next
}

/** Reads all rows with the same key prefix, in order. @param from a key of that kind. */
export async function listFrom<Row>(rows: JournalRows, from: string): Promise<Row[]> {
  const found = await rows.list({ from, to: `${from.slice(0, from.lastIndexOf('/') + 1)}${END}` })
  return found.map(([, text]) => JSON.parse(text) as Row)
}

export function eventsOf(rows: JournalRows, turnId: string, after = -1): Promise<QueryEvent[]> {
  return listFrom(rows, KEY.event(turnId, Math.max(0, after + 1)))
}

function messagesOf(rows: JournalRows, turnId: string): Promise<Message[]> {
  return listFrom(rows, KEY.message(turnId, 0))
}

/** Turns read at a time for a list. */
const PAGE = 100
const SPOKEN: ReadonlySet<Message['role']> = new Set<Message['role']>(['user', 'assistant', 'tool'])

export async function listTurns(rows: JournalRows, query: ListTurns): Promise<TurnList> {
  const { cursor, status, model, sessionId, userId, tags = [], slow } = query
  const limit = limitOf(query.limit)
  if (query.search !== undefined)
    throw new ConfigurationError('This journal has no `search`: list its turns without, and look through their texts.')
  const found: StoredTurn[] = []
  let to = KEY.number(cursor === undefined ? 9_999_999_999 : numberOf(cursor))
  for (;;) {
    const page = await rows.list({ from: KEY.number(0), to, reverse: true, limit: PAGE })
    for (const [, turnId] of page) {
      const turn = await turnOf(rows, JSON.parse(turnId) as string)
      if (turn === undefined) continue
      const row = toSummary(turn)
      const fits =
        (status ?? row.status) === row.status &&
        (model ?? row.model) === row.model &&
        (sessionId ?? row.sessionId) === row.sessionId &&
        (userId ?? row.userId) === row.userId &&
        tags.every((tag) => row.tags.includes(tag)) &&
        (slow !== true || turn.end?.metrics?.slow === true)
      if (fits) found.push(turn)
      if (found.length > limit) break
    }
    const last = page.at(-1)
    if (found.length > limit || last === undefined || page.length < PAGE) break
    to = last[0]
  }
  const shown = found.slice(0, limit)
  return { turns: shown.map(toSummary), nextCursor: found.length > limit ? String(shown.at(-1)?.number) : null }
}

export async function spansOf(rows: JournalRows, traceId: string): Promise<SpanRecord[]> {
  return (await listFrom<SpanRecord>(rows, KEY.span(traceId, 0))).toSorted((a, b) => a.startedAt - b.startedAt)
}

export async function readTurn(rows: JournalRows, turnId: string): Promise<TurnDetail | undefined> {
  const turn = await turnOf(rows, turnId)
  if (turn === undefined) return undefined
  const inTrace = await spansOf(rows, turn.open.traceId)
  const nested: TurnDetail['nested'][number][] = []
  for (const other of new Set(inTrace.flatMap((span) => span.turnId ?? []))) {
    const start = await get<QueryEvent>(rows, KEY.event(other, 0))
    const made = start?.type === 'start' ? start.calledBy : undefined
    const stored = made?.turnId === turnId ? await turnOf(rows, other) : undefined
    if (made !== undefined && stored !== undefined) nested.push({ ...toSummary(stored), callId: made.callId })
  }
  return {
    turn: toTurnRow(turn),
    messages: await messagesOf(rows, turnId),
    events: await eventsOf(rows, turnId),
    spans: inTrace.filter((span) => span.turnId === undefined || span.turnId === turnId),
    ...(turn.prompts.length === 0 ? {} : { prompts: turn.prompts }),
    nested,
  }
}

export async function readHistory(rows: JournalRows, sessionId: string): Promise<Message[]> {
  const chain: StoredTurn[] = []
  for (let next = (await sessionOf(rows, sessionId)).head; next !== null;) {
    const turn: StoredTurn | undefined = await turnOf(rows, next)
    if (turn === undefined) break
    chain.unshift(turn)
    next = turn.compacted === undefined ? turn.parent : null
  }
  const history: Message[] = []
  for (const { open, state, compacted } of chain) {
    const { turnId } = open
    const own = await messagesOf(rows, turnId)
    if (compacted !== undefined) history.push(...compactedTo(compacted.messages, own))
    const said = own.slice(compacted?.position ?? 0).filter(({ role }) => SPOKEN.has(role))
    const isWhole = state === 'done' || state === 'waiting'
    history.push(...spokenIn(turnId, said, isWhole ? [] : await eventsOf(rows, turnId)))
  }
  return history
}

function toSummary({ open, state, rating, end }: StoredTurn): TurnSummary {
  const { turnId, sessionId, bot = null, question, startedAt, userId = null } = open
  return {
    turnId,
    sessionId,
    status: state,
    bot,
    model: end?.model ?? open.model,
    question,
    startedAt,
    latencyMs: end?.latencyMs ?? null,
    usage: end?.usage ?? UNKNOWN_USAGE,
    costUsd: end?.costUsd ?? null,
    rating: rating?.rating ?? null,
    userId,
    tags: [...new Set(open.tags)].toSorted(),
  }
}

function toTurnRow(turn: StoredTurn): TurnRow {
  const { open, parent, rating, end } = turn
  const { temperature, promptHash, traceId, spanId } = open
  return {
    ...toSummary(turn),
    text: end?.text ?? '',
    temperature,
    promptHash,
    ratingComment: rating?.comment ?? null,
    parentTurnId: parent,
    traceId,
    spanId,
    endedAt: end?.endedAt ?? null,
    finishReason: end?.finishReason ?? null,
    error: end?.error ?? null,
    metrics: end?.metrics ?? null,
  }
}
