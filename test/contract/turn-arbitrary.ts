/** Generates random turns as the engine writes them: failed attempts with a reset, steps with tools, results in any order. */

import fc from 'fast-check'
import type { EventBody, QueryEvent, TerminalEvent } from '../../src/core/event.ts'
import type { Json } from '../../src/core/json.ts'
import { fromParts, system, user } from '../../src/core/message.ts'
import type { Part, ToolCallPart } from '../../src/core/part.ts'
import type { JournalEntry, TurnOpen } from '../../src/core/recorder.ts'
import type { Usage } from '../../src/core/usage.ts'
import { resultOf, STARTED_AT } from '../../src/testing/turns.ts'

/** The events of a turn in order, before they get numbers and times. */
export type Happening =
  | { readonly step: number; readonly body: EventBody }
  | { readonly step: number; readonly entry: Exclude<JournalEntry, { type: 'event' }> }

export interface RandomTurn {
  readonly happenings: readonly Happening[]
  readonly terminal: TerminalEvent
  /** Milliseconds between events, used cyclically. */
  readonly gaps: readonly number[]
}

/** Generates ordinary objects, since parsed JSON has a prototype. */
const PLAIN = { noNullPrototype: true } as const

const text = fc.string({ unit: 'binary', maxLength: 12 })
const shown = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
const count = fc.option(fc.nat(5000), { nil: null })
const usage: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    reasoningTokens: count,
    exactness: fc.constantFrom('exact', 'estimated', 'unknown'),
  },
  PLAIN,
)
const failure = fc.record(
  {
    code: fc.constantFrom('network' as const, 'overloaded' as const, 'stream_interrupted' as const),
    message: text,
    retryable: fc.boolean(),
  },
  PLAIN,
)
const input = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)

interface RandomAttempt {
  readonly deltas: readonly { readonly text: string; readonly isThinking: boolean }[]
}

const attempt: fc.Arbitrary<RandomAttempt> = fc.record(
  {
    deltas: fc.array(fc.record({ text: shown, isThinking: fc.boolean() }, PLAIN), { maxLength: 6 }),
  },
  PLAIN,
)

/** A tool call: whether its tool starts and reports progress, and when its result arrives. */
const toolCall = fc.record(
  {
    input,
    isStarted: fc.boolean(),
    progress: fc.array(text, { maxLength: 2 }),
    order: fc.nat(9),
    isError: fc.boolean(),
  },
  PLAIN,
)

const step = fc.record(
  {
    failed: fc.array(fc.tuple(attempt, failure), { maxLength: 2 }),
    last: attempt,
    usage,
    calls: fc.array(toolCall, { maxLength: 3 }),
    asks: fc.boolean(),
  },
  PLAIN,
)

const terminal: fc.Arbitrary<TerminalEvent> = fc.oneof(
  text.map((reason) => ({ type: 'cancelled' as const, reason })),
  failure.map((error) => ({ type: 'error' as const, error })),
  text.map((answer) => ({
    type: 'complete' as const,
    result: resultOf({ turnId: 'turn_a', sessionId: 'session', traceId: 'aa' }, answer),
  })),
)

export const randomTurn: fc.Arbitrary<RandomTurn> = fc
  .record(
    {
      question: shown,
      steps: fc.array(step, { maxLength: 4 }),
      terminal,
      gaps: fc.array(fc.oneof(fc.nat(2000), fc.constantFrom(0.25, 1.1)), { minLength: 1, maxLength: 5 }),
      /** Repeats call ids in each step, as some providers do. */
      hasUniqueIds: fc.boolean(),
    },
    PLAIN,
  )
  .map(({ question, steps, terminal, gaps, hasUniqueIds }) => ({
    happenings: [
      { step: 0, entry: { type: 'messages', step: 0, messages: [system('Be brief.'), user(question)] } },
      { step: 0, body: { type: 'start', model: 'test/model' } },
      ...steps.flatMap((step, index) => happeningsOf(step, index + 1, hasUniqueIds)),
    ],
    terminal,
    gaps,
  }))

type RandomStep = typeof step extends fc.Arbitrary<infer Value> ? Value : never

function happeningsOf({ failed, last, usage, calls, asks }: RandomStep, step: number, hasUniqueIds: boolean): Happening[] {
  const bodies: EventBody[] = []
  for (const [index, [attempt, error]] of failed.entries()) {
    bodies.push(...deltasOf(attempt, index + 1), { type: 'retry', attempt: index + 1, delay: 5, error })
    if (attempt.deltas.length > 0) bodies.push({ type: 'reset', attempt: index + 1 })
  }
  bodies.push(...deltasOf(last, failed.length + 1), { type: 'usage', usage })

  const parts: Part[] = last.deltas.map(({ text, isThinking }) => ({ type: isThinking ? 'thinking' : 'text', text }))
  const callParts: ToolCallPart[] = calls.map((call, index) => ({
    type: 'tool-call',
    id: hasUniqueIds ? `call_${step}_${index}` : `call_${index}`,
    name: 'search',
    input: call.input,
  }))
  bodies.push({ type: 'message', message: fromParts('assistant', [...parts, ...callParts], { id: `msg_${step}` }) })
  if (calls.length === 0) return bodies.map((body) => ({ step, body }))

  const tools = callParts.map(({ id, name, input }) => ({ id, name, input }))
  bodies.push(...tools.map((tool) => ({ type: 'tool_request' as const, tool })))
  if (asks) bodies.push({ type: 'permission_request', tools })
  const happenings: Happening[] = bodies.map((body) => ({ step, body }))
  const inOrder = [...calls.entries()].toSorted(([, a], [, b]) => a.order - b.order)
  for (const [index, call] of inOrder) {
    const { id, name } = callParts[index] as ToolCallPart
    if (call.isStarted) {
      const intent = {
        type: 'tool_start' as const,
        step,
        callId: id,
        name,
        input: '{}',
        idempotencyKey: `key_${id}`,
        at: STARTED_AT,
      }
      happenings.push({ step, entry: intent })
    }
    for (const content of call.progress) happenings.push({ step, body: { type: 'tool_progress', id, content } })
    const result = { id, name, content: `result of ${id}`, isError: call.isError, durationMs: 3 }
    happenings.push({ step, body: { type: 'tool_result', result } })
  }
  const results = callParts.map(({ id, name }) =>
    fromParts('tool', [{ type: 'tool-result', id, name, content: `result of ${id}`, isError: false }], {
      id: `msg_${step}_${id}`,
    }),
  )
  happenings.push({ step, entry: { type: 'messages', step, messages: results } })
  return happenings
}

function deltasOf({ deltas }: RandomAttempt, attempt: number): EventBody[] {
  return deltas.map(({ text, isThinking }) =>
    isThinking ? { type: 'thinking', content: text, attempt } : { type: 'text_delta', text, attempt },
  )
}

/** Numbers and dates the events; `length` cuts the turn short. */
export function entriesOfTurn(
  turn: RandomTurn,
  open: Pick<TurnOpen, 'turnId' | 'sessionId'>,
  length: number = turn.happenings.length,
): JournalEntry[] {
  let seq = 0
  let at = STARTED_AT
  return turn.happenings.slice(0, length).map((happening) => {
    if ('entry' in happening) return happening.entry
    at += turn.gaps[seq % turn.gaps.length] ?? 0
    const event: QueryEvent = { ...happening.body, sessionId: open.sessionId, turnId: open.turnId, step: happening.step, seq, at }
    seq += 1
    return { type: 'event', event }
  })
}

export function eventsOf(entries: readonly JournalEntry[]): QueryEvent[] {
  return entries.flatMap((entry) => (entry.type === 'event' ? [entry.event] : []))
}
