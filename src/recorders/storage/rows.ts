/** Lays a journal out in keys and texts, and reads it back. */

import type { QueryEvent } from '../../core/event.ts'
import type { JournalRows } from '../../core/journal-storage.ts'
import type { Message } from '../../core/message.ts'
import type { PromptRef, TurnClose, TurnOpen, TurnRow, TurnState } from '../../core/recorder.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { wellFormedJson } from '../sqlite/columns.ts'

/** A turn as it is stored. */
export interface StoredTurn {
  /** Turns are counted in the order in which they were opened, from 1. */
  readonly number: number
  readonly open: TurnOpen
  /** The turn that it follows in its session. */
  readonly parent: string | null
  readonly state: TurnState
  /** The recorder that holds it, and the process that it runs in, in words. */
  readonly holder: string
  readonly owner: string
  /** When its lease runs out; epoch milliseconds. */
  readonly until: number
  readonly nextSeq: number
  /** Number of its messages. */
  readonly messages: number
  /** Ids of messages that came with a `message` event. */
  readonly assembled: readonly string[]
  /** Idempotency keys of tool calls that were started and have no result, by id. */
  readonly started: Readonly<Record<string, string>>
  /** Messages from this one on follow what the conversation was compacted to. */
  readonly compacted?: { readonly position: number; readonly messages: readonly Message[] }
  /** Versions of the prompts that it was made with. */
  readonly prompts: readonly PromptRef[]
  readonly rating?: { readonly rating: number; readonly comment: string | null }
  readonly end?: StoredEnd
}

export type StoredEnd = Pick<TurnClose, 'endedAt' | 'text' | 'usage' | 'costUsd' | 'error'> & {
  readonly latencyMs: number
  readonly finishReason: string | null
  readonly model: string
  readonly metrics: TurnClose['metrics'] | null
}

export interface StoredSession {
  /** The turn that the next one follows. */
  readonly head: string | null
  /** The exclusive turn that is open. */
  readonly running: string | null
  /** The turn that waits for a decision. */
  readonly waiting: string | null
  /** The first user that one of its turns named. */
  readonly userId: string | null
}

export const NEW_SESSION: StoredSession = { head: null, running: null, waiting: null, userId: null }

/** After every digit and letter. */
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

/** The next number of a kind of row, from 1. */
export async function counted(rows: JournalRows, what: string): Promise<number> {
  const next = Number((await rows.get(KEY.count(what))) ?? 0) + 1
  await rows.set(KEY.count(what), String(next))
  return next
}

/** All rows below the last part of a key, in order. @param from a key of that kind. */
export async function listFrom<Row>(rows: JournalRows, from: string): Promise<Row[]> {
  const found = await rows.list({ from, to: `${from.slice(0, from.lastIndexOf('/') + 1)}${END}` })
  return found.map(([, text]) => JSON.parse(text) as Row)
}

export function eventsOf(rows: JournalRows, turnId: string, after = -1): Promise<QueryEvent[]> {
  return listFrom(rows, KEY.event(turnId, Math.max(0, after + 1)))
}

export function messagesOf(rows: JournalRows, turnId: string, from = 0): Promise<Message[]> {
  return listFrom(rows, KEY.message(turnId, from))
}

export function toTurnRow({ open, state, parent, rating, end }: StoredTurn): TurnRow {
  return {
    turnId: open.turnId,
    sessionId: open.sessionId,
    status: state,
    bot: open.bot ?? null,
    model: end?.model ?? open.model,
    question: open.question,
    startedAt: open.startedAt,
    latencyMs: end?.latencyMs ?? null,
    usage: end?.usage ?? UNKNOWN_USAGE,
    costUsd: end?.costUsd ?? null,
    rating: rating?.rating ?? null,
    userId: open.userId ?? null,
    tags: [...new Set(open.tags)].toSorted(),
    text: end?.text ?? '',
    temperature: open.temperature,
    promptHash: open.promptHash,
    ratingComment: rating?.comment ?? null,
    parentTurnId: parent,
    traceId: open.traceId,
    spanId: open.spanId,
    endedAt: end?.endedAt ?? null,
    finishReason: end?.finishReason ?? null,
    error: end?.error ?? null,
    metrics: end?.metrics ?? null,
  }
}
