/** Defines properties that hold for every turn that can be written, and for a death of its process at every event. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { foldEvents } from '../../src/core/fold.ts'
import { isTerminal } from '../../src/core/event.ts'
import type { QueryEvent } from '../../src/core/event.ts'
import type { Message } from '../../src/core/message.ts'
import type { JournalEntry, Recorder } from '../../src/core/recorder.ts'
import type { Runner } from '../../src/testing/claims.ts'
import type { JournalUnderTest } from '../../src/testing/recorder-suite.ts'
import { closeOf, openOf, STARTED_AT } from '../../src/testing/turns.ts'
import { entriesOfTurn, eventsOf, randomTurn } from './turn-arbitrary.ts'

const LEASE_MS = 30_000

export function recorderProperties(
  name: string,
  create: () => JournalUnderTest | Promise<JournalUnderTest>,
  runner: Runner,
): void {
  runner.describe(name, () => {
    runner.it('any turn is read back as it was written', async () => {
      await onJournals(create, async (recorder, next) => {
        await fc.assert(
          fc.asyncProperty(randomTurn, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (turn, sizes) => {
            const open = openOf(next('turn'), { sessionId: next('session') })
            const entries = entriesOfTurn(turn, open)
            const events = eventsOf(entries)
            await recorder.openTurn(open)
            for (const batch of batchesOf(entries, sizes)) await recorder.record(open.turnId, batch)
            assert.deepEqual(await recorder.read.events(open.turnId), events)

            const { sessionId, turnId, step, seq, at } = events.at(-1) as QueryEvent
            const terminal = { ...turn.terminal, sessionId, turnId, step, seq: seq + 1, at }
            await recorder.closeTurn(open.turnId, closeOf(terminal))
            assert.deepEqual(await recorder.read.events(open.turnId), [...events, terminal])
            const after = sizes[0] ?? 0
            assert.deepEqual(await recorder.read.events(open.turnId, after), [...events, terminal].slice(after + 1))
          }),
          { numRuns: 150 },
        )
      })
    })

    runner.it('a turn that is cut anywhere ends well: one terminal event, one result for each request', async () => {
      await onJournals(create, async (recorder, next, pass) => {
        await fc.assert(
          fc.asyncProperty(randomTurn, fc.double({ min: 0, max: 1, noNaN: true }), async (turn, share) => {
            const open = openOf(next('turn'), { sessionId: next('session') })
            const entries = entriesOfTurn(turn, open, Math.round(share * turn.happenings.length))
            const written = eventsOf(entries)
            await recorder.openTurn(open)
            await recorder.record(open.turnId, entries)
            pass(LEASE_MS + 1)
            const events = await recorder.read.events(open.turnId)
            const detail = await recorder.read.turn(open.turnId)

            assert.deepEqual(events.slice(0, written.length), written)
            assert.deepEqual(
              events.map(({ seq }) => seq),
              events.map((_, index) => index),
            )
            assert.equal(events[0]?.type, 'start')
            assert.equal(events.filter((event) => isTerminal(event)).length, 1)
            assert.equal(events.at(-1)?.type, 'error')
            assert.deepEqual(openRequests(events), [])
            assert.equal(detail?.turn.status, 'lost')
            assert.equal(detail.turn.text, foldEvents(written).text)
            assert.ok(
              events.every((event, index) => event.at >= (events[index - 1]?.at ?? 0)),
              'time runs forwards',
            )
            assertAcceptable(await recorder.read.history(open.sessionId))
          }),
          { numRuns: 150 },
        )
      })
    })
  })
}

async function onJournals(
  create: () => JournalUnderTest | Promise<JournalUnderTest>,
  run: (recorder: Recorder, next: (prefix: string) => string, pass: (ms: number) => void) => Promise<void>,
): Promise<void> {
  const journal = await create()
  let now = STARTED_AT
  let count = 0
  const recorder = await journal.open({ clock: { now: () => now }, leaseMs: LEASE_MS })
  const pass = (ms: number): void => {
    now += ms
  }
  try {
    await run(recorder, (prefix) => `${prefix}_${count++}`, pass)
  } finally {
    await recorder.close()
    await journal.remove()
  }
}

function batchesOf(entries: readonly JournalEntry[], sizes: readonly number[]): JournalEntry[][] {
  const batches: JournalEntry[][] = []
  for (let start = 0; start < entries.length;) {
    const size = sizes[batches.length % sizes.length] ?? 1
    batches.push(entries.slice(start, start + size))
    start += size
  }
  return batches
}

/** Returns ids with a different number of requests and results, or with a result before the request. */
function openRequests(events: readonly QueryEvent[]): string[] {
  const wrong: string[] = []
  const open = new Set<string>()
  for (const event of events) {
    if (event.type === 'tool_request') open.add(event.tool.id)
    if (event.type === 'tool_result' && !open.delete(event.result.id)) wrong.push(event.result.id)
  }
  return [...wrong, ...open]
}

/** Checks the rules that strict providers share. */
function assertAcceptable(history: readonly Message[]): void {
  let expected: string[] = []
  for (const message of history) {
    const results = message.parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : []))
    assert.equal(message.role === 'tool', results.length > 0)
    if (message.role === 'tool') {
      for (const id of results) assert.equal(id, expected.shift(), 'results stand in the order of their calls')
      continue
    }
    assert.deepEqual(expected, [], 'every call is answered before anything else is said')
    assert.ok(message.role === 'user' || message.role === 'assistant')
    if (message.role === 'assistant')
      assert.ok(message.content.trim() !== '' || message.toolCalls !== undefined, 'says something')
    expected = (message.toolCalls ?? []).map(({ id }) => id)
  }
  assert.deepEqual(expected, [])
  assert.ok(history.length === 0 || history[0]?.role === 'user')
}
