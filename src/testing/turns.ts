/** Helpers for tests with turns: builds minimal valid rows and events with the changes that a test needs, and reads turns to their end. */

import type { EventBody, QueryEvent, QueryResult } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { Folded } from '../core/fold.ts'
import type { JournalEntry, TurnClose, TurnOpen } from '../core/recorder.ts'
import { UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'

/** Time at which turns of the suites start, epoch milliseconds. */
export const STARTED_AT = 1_700_000_000_000

/** Usage as a provider reports it. */
export const EXACT_USAGE: Usage = {
  inputTokens: 100,
  outputTokens: 20,
  totalTokens: 120,
  cacheReadTokens: 40,
  cacheWriteTokens: 0,
  reasoningTokens: 5,
  exactness: 'exact',
}

/** Returns the row of a turn for tests. */
export function openOf(turnId: string, changes: Partial<TurnOpen> = {}): TurnOpen {
  return {
    turnId,
    sessionId: 'session',
    bot: { kind: 'QueryBot', name: 'librarian' },
    model: 'test/model',
    temperature: 0,
    question: `What does ${turnId} ask?`,
    promptHash: 'ab'.repeat(32),
    startedAt: STARTED_AT,
    traceId: '0123456789abcdef'.repeat(2),
    spanId: '0123456789abcdef',
    exclusive: true,
    ...changes,
  }
}

/** Returns a function that stamps the events of a turn in order; each body comes with its step. */
export function stamper(
  turn: Pick<TurnOpen, 'turnId' | 'sessionId'>,
  firstSeq = 0,
): (step: number, body: EventBody) => QueryEvent {
  let seq = firstSeq
  return (step, body) => {
    const event = { ...body, sessionId: turn.sessionId, turnId: turn.turnId, step, seq, at: STARTED_AT + 10 * seq }
    seq += 1
    return event
  }
}

/** Returns journal entries for these events. */
export function entriesOf(events: readonly QueryEvent[]): JournalEntry[] {
  return events.map((event) => ({ type: 'event', event }))
}

const STATES = { complete: 'done', cancelled: 'cancelled', error: 'failed' } as const

/** Returns the data that closes a turn with a terminal event. */
export function closeOf(event: QueryEvent, changes: Partial<TurnClose> = {}): TurnClose {
  if (event.type !== 'complete' && event.type !== 'cancelled' && event.type !== 'error') {
    throw new TypeError(`${event.type} is not a terminal event`)
  }
  return {
    state: STATES[event.type],
    event,
    endedAt: event.at,
    model: 'test/model',
    text: '',
    usage: UNKNOWN_USAGE,
    costUsd: null,
    finishReason: event.type === 'complete' ? 'stop' : null,
    ...(event.type === 'error' ? { error: event.error } : {}),
    metrics: {
      timeToFirstTokenMs: 12,
      durationMs: event.at - STARTED_AT,
      steps: 1,
      toolsExecuted: 0,
      errors: 0,
      retries: 0,
      cacheHit: false,
      slow: false,
    },
    ...changes,
  }
}

/** Returns the result of a turn for tests. */
export function resultOf(turn: Pick<TurnOpen, 'turnId' | 'sessionId' | 'traceId'>, text: string): QueryResult {
  return {
    text,
    finishReason: 'stop',
    steps: 1,
    usage: EXACT_USAGE,
    costUsd: 0.001,
    model: 'test/model',
    cacheHit: false,
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    traceId: turn.traceId,
  }
}

/** A turn that was read to its end. */
export interface Collected extends Folded {
  /** All events, in order. */
  readonly events: readonly QueryEvent[]
  /** The types of the events, in order, as most tests compare them. */
  readonly types: readonly QueryEvent['type'][]
  /** The return value of the generator. */
  readonly returned: QueryResult | undefined
}

/** Reads a turn to its end and returns its events, folded state and result. */
export async function collect(turn: AsyncGenerator<QueryEvent, QueryResult | undefined>): Promise<Collected> {
  const events: QueryEvent[] = []
  for (;;) {
    const next = await turn.next()
    if (next.done === true) return { events, types: events.map(({ type }) => type), returned: next.value, ...foldEvents(events) }
    events.push(next.value)
  }
}
