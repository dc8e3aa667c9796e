/** Helpers of the recorder suite. */

import assert from 'node:assert/strict'
import { isCriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { EventBody, QueryEvent } from '../../core/event.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { assistant, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { ToolCallPart } from '../../core/part.ts'
import type { JournalEntry, JournalKeeper, ListTurns, Recorder, TurnClose, TurnDetail, TurnOpen } from '../../core/recorder.ts'
import type { ScoredChunk } from '../../core/store.ts'
import { STARTED_AT, closeOf, entriesOf, openOf, resultOf, stamper } from '../turns.ts'

export interface OpenOptions {
  /** The recorder's only source of time. */
  readonly clock: { now(): number }
  readonly leaseMs: number
}

/** A recorder of the journal; the optional methods of a keeper are tested where they are claimed. */
export type OpenJournal = Recorder & Pick<JournalKeeper, 'sweep'> & Partial<JournalKeeper>

/** An empty journal. */
export interface JournalUnderTest {
  /** Opens another recorder on the journal, which holds turns of its own. */
  open(options: OpenOptions): MaybePromise<OpenJournal>
  /** Called after every recorder has been closed. */
  remove(): MaybePromise<void>
}

/** Receives the tests of one part. */
export interface Suite {
  readonly describe: (name: string, define: () => void) => void
  /** Defines a test with a journal of its own, and an open recorder on it. */
  readonly test: (title: string, run: (recorder: Keeper, bench: Bench) => Promise<void>) => void
}

/** A recorder with all optional methods; a test uses only those whose capability is claimed. */
export type Keeper = Recorder & JournalKeeper

export const LEASE_MS = 30_000

/** A journal, its open recorders, and the clock that they share. */
export class Bench {
  readonly #recorders: Keeper[] = []
  readonly clock: { now(): number }
  readonly #journal: JournalUnderTest
  #now = STARTED_AT

  constructor(journal: JournalUnderTest) {
    this.#journal = journal
    this.clock = { now: () => this.#now }
  }

  async open(): Promise<Keeper> {
    const recorder = (await this.#journal.open({ clock: this.clock, leaseMs: LEASE_MS })) as Keeper
    this.#recorders.push(recorder)
    return recorder
  }

  async close(): Promise<void> {
    for (const recorder of this.#recorders) await recorder.close()
    await this.#journal.remove()
  }

  pass(ms: number): void {
    this.#now += ms
  }

  async turn(turnId: string, recorder: Recorder | undefined = this.#recorders[0]): Promise<TurnDetail> {
    const detail = await recorder?.read.turn(turnId)
    assert.ok(detail !== undefined, `${turnId} is not in the journal`)
    return detail
  }
}

type StepBody = readonly [step: number, body: EventBody]

/** An open turn, written step by step. */
export interface Written {
  readonly open: TurnOpen
  /** Stamps the next event without writing it. */
  readonly at: (step: number, body: EventBody) => QueryEvent
  /** Writes messages in a step. */
  messages(step: number, ...messages: Message[]): Promise<void>
  /** Stamps and writes events; returns them. */
  events(...bodies: StepBody[]): Promise<QueryEvent[]>
  /** Writes entries unchanged. */
  entries(...entries: JournalEntry[]): Promise<void>
  /** Ends the turn; returns the data it was closed with. */
  close(step: number, body: EventBody, changes?: Partial<TurnClose>): Promise<TurnClose>
}

export const START: EventBody = { type: 'start', model: 'test/model' }
export const CANCELLED: EventBody = { type: 'cancelled', reason: 'Enough.' }

export async function begin(recorder: Recorder, turnId: string, changes: Partial<TurnOpen> = {}): Promise<Written> {
  const open = openOf(turnId, changes)
  const at = stamper(open)
  await recorder.openTurn(open)
  const entries = async (...all: JournalEntry[]): Promise<void> => recorder.record(turnId, all)
  return {
    open,
    at,
    messages: (step, ...messages) => entries({ type: 'messages', step, messages }),
    events: async (...bodies) => {
      const events = bodies.map(([step, body]) => at(step, body))
      await entries(...entriesOf(events))
      return events
    },
    entries,
    close: async (step, body, closing) => {
      const close = closeOf(at(step, body), closing)
      await recorder.closeTurn(turnId, close)
      return close
    },
  }
}

/** Writes a complete turn: a question and its answer. */
export async function say(
  recorder: Recorder,
  turnId: string,
  answer: string,
  changes: Partial<TurnOpen> = {},
  composed?: readonly Message[],
  closing: Partial<TurnClose> = {},
): Promise<void> {
  const turn = await begin(recorder, turnId, changes)
  const { at, open } = turn
  await turn.entries(
    { type: 'messages', step: 0, messages: composed ?? [user(open.question)] },
    ...entriesOf([at(0, START), at(1, delta(answer)), at(1, { type: 'message', message: assistant(answer) })]),
  )
  await turn.close(1, complete(open, answer), { text: answer, ...closing })
}

export async function rejects(code: ErrorCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(isCriaError(error), `expected a CriaError, received ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return true
  })
}

/** Returns the ids of the listed turns. */
export async function listed(recorder: Recorder, query: ListTurns = {}): Promise<string[]> {
  return (await recorder.read.turns(query)).turns.map(({ turnId }) => turnId)
}

export function delta(text: string, attempt = 1): EventBody {
  return { type: 'text_delta', text, attempt }
}

export function complete(turn: Parameters<typeof resultOf>[0], text: string): EventBody {
  return { type: 'complete', result: resultOf(turn, text) }
}

export function chunk(text: string): ScoredChunk {
  return {
    id: 'chunk_1',
    text,
    source: 'docs/a.md',
    start: 10,
    end: 10 + text.length,
    title: 'A',
    headings: ['A', 'B'],
    lines: [3, 4],
    metadata: { page: 2 },
    score: 1.25,
    evidence: { coverage: 0.5, weights: { passage: 2.5 } },
  }
}

export function call(id: string): ToolCallPart {
  return { type: 'tool-call', id, name: 'search', input: { query: 'llama', limit: 3 } }
}

export function requestOf(id: string): EventBody {
  return { type: 'tool_request', tool: { id, name: 'search', input: { query: 'llama', limit: 3 } } }
}
