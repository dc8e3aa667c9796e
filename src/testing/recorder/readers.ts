/** Tests turns seen by other recorders: lost turns, and turns followed while they are written. */

import assert from 'node:assert/strict'
import type { QueryEvent } from '../../core/event.ts'
import { foldEvents } from '../../core/fold.ts'
import { assistant, user } from '../../core/message.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, entriesOf, openOf, stamper } from '../turns.ts'
import { begin, call, CANCELLED, complete, delta, LEASE_MS, rejects, requestOf, say, START } from './bench.ts'
import type { Suite } from './bench.ts'

export function lostTurnTests({ describe, test }: Suite): void {
  describe('a turn whose owner has ended', () => {
    test('is lost when its lease has run out, whichever recorder reads it first', async (owner, bench) => {
      const other = await bench.open()
      const waysToSee: readonly ((turnId: string, sessionId: string) => Promise<unknown>)[] = [
        async () => other.sweep(),
        async () => other.read.turns(),
        async (turnId) => other.read.turn(turnId),
        async (turnId) => other.read.events(turnId),
        async (_turnId, sessionId) => other.read.history(sessionId),
        async (turnId, sessionId) => other.openTurn(openOf(`${turnId}_next`, { sessionId })),
      ]
      for (const [n, see] of waysToSee.entries()) {
        const turn = await begin(owner, `turn_${n}`, { sessionId: `session_${n}` })
        const { turnId, sessionId } = turn.open
        await turn.events([0, START])
        bench.pass(LEASE_MS + 1)
        await see(turnId, sessionId)
        assert.equal((await owner.read.events(turnId)).at(-1)?.type, 'error', `way ${n}`)
        assert.equal((await bench.turn(turnId)).turn.status, 'lost')
      }
    })

    test('stays open as long as its writes renew its lease', async (owner, bench) => {
      const other = await bench.open()
      const turn = await begin(owner, 'turn_a')
      for (let n = 0; n < 5; n++) {
        bench.pass(LEASE_MS * 0.9)
        await turn.events([1, delta('x')])
        assert.equal(await other.sweep(), 0)
      }
      assert.equal((await bench.turn('turn_a', other)).turn.status, 'open')
    })

    test('is lost at once when its recorder is closed', async (owner, bench) => {
      const other = await bench.open()
      await owner.openTurn(openOf('turn_a'))
      await owner.close()
      assert.equal(await other.sweep(), 1)
      assert.equal((await bench.turn('turn_a', other)).turn.status, 'lost')
    })

    test('keeps its text and usage, and ends for its followers', async (owner, bench) => {
      const other = await bench.open()
      // Models choose the ids.
      const odd = 'constructor'
      const turn = await begin(owner, 'turn_a')
      await turn.messages(0, user('Find it.'))
      const written = await turn.events(
        [0, START],
        [1, delta('Let me look.')],
        [1, { type: 'usage', usage: EXACT_USAGE }],
        [1, { type: 'message', message: assistant([{ type: 'text', text: 'Let me look.' }, call(odd), call('call_2')]) }],
        [1, requestOf(odd)],
        [1, requestOf('call_2')],
      )
      const start = { step: 1, callId: odd, name: 'search', input: '{}', idempotencyKey: 'key', at: STARTED_AT }
      await turn.entries({ type: 'tool_start', ...start })
      bench.pass(LEASE_MS + 1)
      assert.equal(await other.sweep(), 1)
      assert.equal(await other.sweep(), 0)

      const { turn: row, events } = await bench.turn('turn_a', other)
      assert.deepEqual([row.status, row.text, row.error?.code], ['lost', 'Let me look.', 'turn_lost'])
      assert.deepEqual(row.usage, EXACT_USAGE)
      assert.deepEqual(events.slice(0, written.length), written)
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index),
      )
      assert.deepEqual(
        events.slice(written.length).map(({ type }) => type),
        ['tool_result', 'tool_result', 'error'],
      )
      const [started, notStarted] = foldEvents(events).toolResults
      assert.ok(started?.isError === true && started.content.includes('unknown'), started?.content)
      assert.ok(notStarted?.isError === true && !notStarted.content.includes('unknown'), notStarted?.content)
      const history = await other.read.history('session')
      assert.deepEqual(
        history.map(({ role }) => role),
        ['user', 'assistant', 'tool', 'tool'],
      )
      // Only started calls may have had an effect, recognisable by their idempotency keys.
      const results = history.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'))
      for (const [first, second] of [[started, notStarted], results]) {
        assert.deepEqual(first?.unknownEffects, { idempotencyKey: 'key' })
        assert.equal(second?.unknownEffects, undefined)
      }
    })

    test('has a duration of 0 when the clock was set back before its last sign of life', async (owner, bench) => {
      const other = await bench.open()
      const turn = await begin(owner, 'turn_a', { startedAt: STARTED_AT + 60_000 })
      await turn.events([0, START])
      bench.pass(LEASE_MS + 60_001)
      await other.sweep()
      assert.equal((await bench.turn('turn_a', other)).turn.latencyMs, 0)
    })

    test('gets a start event when it died before its first event', async (owner, bench) => {
      const other = await bench.open()
      await owner.openTurn(openOf('turn_a'))
      bench.pass(LEASE_MS + 1)
      const events = await other.read.events('turn_a')
      assert.deepEqual(
        events.map(({ type, seq }) => `${seq} ${type}`),
        ['0 start', '1 error'],
      )
      assert.equal((await bench.turn('turn_a')).turn.usage.exactness, 'unknown')
    })

    test('refuses late writes of its owner, and stays unchanged', async (owner, bench) => {
      const other = await bench.open()
      const turn = await begin(owner, 'turn_a')
      await turn.events([0, START])
      bench.pass(LEASE_MS + 1)
      await other.sweep()
      const before = await bench.turn('turn_a', other)
      const late = entriesOf([turn.at(1, delta('Late.'))])
      for (const _try of [1, 2]) await rejects('turn_lost', async () => owner.record('turn_a', late))
      const end = stamper(turn.open, 1)(1, CANCELLED)
      await rejects('turn_lost', async () => owner.closeTurn('turn_a', closeOf(end)))
      assert.deepEqual(await bench.turn('turn_a', other), before)
    })
  })
}

async function seqs(events: AsyncIterable<QueryEvent>): Promise<number[]> {
  const seen: number[] = []
  for await (const event of events) seen.push(event.seq)
  return seen
}

export function followTests({ describe, test }: Suite): void {
  describe('following a turn', () => {
    test('yields stored and new events up to the terminal event, from any recorder', async (writer, bench) => {
      const other = await bench.open()
      const turn = await begin(writer, 'turn_a')
      await turn.events([0, START])
      const followers = [writer.follow('turn_a'), other.follow('turn_a')]
      for (const follower of followers) assert.equal((await follower.next()).value?.type, 'start')
      const waiting = followers.map((follower) => follower.next())
      await turn.events([1, delta('A')])
      for (const next of await Promise.all(waiting)) assert.equal(next.value?.type, 'text_delta')
      const rest = followers.map(seqs)
      const late = other.follow('turn_a', { after: 0 })
      await turn.events([1, delta('B')])
      await turn.close(1, complete(turn.open, 'AB'))
      for (const seen of await Promise.all(rest)) assert.deepEqual(seen, [2, 3])
      assert.deepEqual(await seqs(late), [1, 2, 3])
    })

    test('continues an ended turn after any of its events', async (recorder) => {
      await say(recorder, 'turn_a', 'Yes.')
      assert.deepEqual(await seqs(recorder.follow('turn_a')), [0, 1, 2, 3])
      assert.deepEqual(await seqs(recorder.follow('turn_a', { after: 1 })), [2, 3])
      for (const after of [3, 400]) assert.deepEqual(await seqs(recorder.follow('turn_a', { after })), [])
    })

    test('ends when it is returned or aborted during a wait', async (recorder, bench) => {
      await recorder.openTurn(openOf('turn_a'))
      const left = recorder.follow('turn_a')
      const next = left.next()
      await left.return()
      assert.equal((await next).done, true)
      const stopping = new AbortController()
      const aborted = seqs(recorder.follow('turn_a', { signal: stopping.signal }))
      stopping.abort()
      assert.deepEqual(await aborted, [])
      assert.equal((await bench.turn('turn_a')).turn.status, 'open')
    })

    test('refuses an unknown turn, and an invalid position', async (recorder) => {
      await rejects('not_found', async () => recorder.follow('turn_x'))
      await say(recorder, 'turn_a', 'Yes.')
      for (const after of [-2, 0.5, Number.NaN, '1' as never])
        await rejects('configuration', async () => recorder.follow('turn_a', { after }))
    })

    test('throws when the turn is deleted before all events were read', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      await turn.events([0, START])
      const events = recorder.follow('turn_a')
      await events.next()
      await turn.close(1, CANCELLED)
      await recorder.deleteSession('session')
      await rejects('not_found', () => events.next())
    })
  })
}
