/** Helpers of the recorder suite. */

import assert from 'node:assert/strict'
import { isCriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { EventBody } from '../../core/event.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { assistant, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { ToolCallPart } from '../../core/part.ts'
import type { JournalKeeper, Recorder, TurnClose, TurnDetail, TurnOpen } from '../../core/recorder.ts'
import type { ScoredChunk } from '../../core/store.ts'
import { STARTED_AT, closeOf, entriesOf, openOf, resultOf, stamper } from '../turns.ts'

export interface OpenOptions {
  /** The recorder's only source of time. */
  readonly clock: { now(): number }
  readonly leaseMs: number
}

/** A recorder of the journal; the methods of a keeper that it has are tested where they are claimed. */
export type OpenJournal = Recorder & Pick<JournalKeeper, 'sweep'> & Partial<JournalKeeper>

/** One empty journal. */
export interface JournalUnderTest {
  /** Opens a further recorder on it, which holds turns of its own. */
  open(options: OpenOptions): MaybePromise<OpenJournal>
  /** Called after every recorder has been closed. */
  remove(): MaybePromise<void>
}

/** Where the tests of one part are defined. */
export interface Suite {
  readonly describe: (name: string, define: () => void) => void
  /** A test with a journal of its own. */
  readonly test: (title: string, run: (bench: Bench) => Promise<void>) => void
}

export const LEASE_MS = 30_000

/** A journal, the recorders that are open on it, and their time. */
export class Bench {
  readonly recorders: (Recorder & JournalKeeper)[] = []
  readonly clock: { now(): number }
  readonly #journal: JournalUnderTest
  #now = STARTED_AT

  constructor(journal: JournalUnderTest) {
    this.#journal = journal
    this.clock = { now: () => this.#now }
  }

  async open(): Promise<Recorder & JournalKeeper> {
    // What a test uses of a keeper belongs to what was claimed.
    const recorder = (await this.#journal.open({ clock: this.clock, leaseMs: LEASE_MS })) as Recorder & JournalKeeper
    this.recorders.push(recorder)
    return recorder
  }

  pass(ms: number): void {
    this.#now += ms
  }

  async turn(turnId: string, recorder: Recorder | undefined = this.recorders[0]): Promise<TurnDetail> {
    const detail = await recorder?.read.turn(turnId)
    assert.ok(detail !== undefined, `${turnId} is not in the journal`)
    return detail
  }
}

export async function rejects(code: ErrorCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(isCriaError(error), `a CriaError was expected, not ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return true
  })
}

/** Writes a whole turn: a question and its answer. */
export async function say(
  recorder: Recorder,
  turnId: string,
  answer: string,
  changes: Partial<TurnOpen> = {},
  composed?: readonly Message[],
  closing: Partial<TurnClose> = {},
): Promise<void> {
  const open = openOf(turnId, changes)
  const at = stamper(open)
  await recorder.openTurn(open)
  await recorder.record(turnId, [
    { type: 'messages', step: 0, messages: composed ?? [user(open.question)] },
    ...entriesOf([
      at(0, { type: 'start', model: open.model }),
      at(1, { type: 'text_delta', text: answer, attempt: 1 }),
      at(1, { type: 'message', message: assistant(answer) }),
    ]),
  ])
  await recorder.closeTurn(
    turnId,
    closeOf(at(1, { type: 'complete', result: resultOf(open, answer) }), { text: answer, ...closing }),
  )
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
