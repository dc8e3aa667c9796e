/** Turns whose owner is gone. */

import assert from 'node:assert/strict'
import { foldEvents } from '../../core/fold.ts'
import { assistant, user } from '../../core/message.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, entriesOf, openOf, stamper } from '../turns.ts'
import { LEASE_MS, call, rejects, requestOf } from './bench.ts'
import type { Suite } from './bench.ts'

export function lostTurnTests({ describe, test }: Suite): void {
  describe('a turn whose owner is gone', () => {
    test('is lost when its lease has run out, whoever sees it first', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      const waysToSee: readonly ((turnId: string, sessionId: string) => Promise<unknown>)[] = [
        async () => other.sweep(),
        async () => other.read.turns(),
        async (turnId) => other.read.turn(turnId),
        async (turnId) => other.read.events(turnId),
        async (_turnId, sessionId) => other.read.history(sessionId),
        async (turnId, sessionId) => other.openTurn(openOf(`${turnId}_next`, { sessionId })),
      ]
      for (const [n, see] of waysToSee.entries()) {
        const open = openOf(`turn_${n}`, { sessionId: `session_${n}` })
        await owner.openTurn(open)
        await owner.record(open.turnId, entriesOf([stamper(open)(0, { type: 'start', model: 'm' })]))
        bench.pass(LEASE_MS + 1)
        await see(open.turnId, open.sessionId)
        const events = await owner.read.events(open.turnId)
        assert.equal(events.at(-1)?.type, 'error', `way ${n}`)
        assert.equal((await bench.turn(open.turnId)).turn.status, 'lost')
      }
    })

    test('stays open as long as its lease is renewed by what it writes', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a')
      const at = stamper(open)
      await owner.openTurn(open)
      for (let n = 0; n < 5; n++) {
        bench.pass(LEASE_MS * 0.9)
        await owner.record('turn_a', entriesOf([at(1, { type: 'text_delta', text: 'x', attempt: 1 })]))
        assert.equal(await other.sweep(), 0)
      }
      assert.equal((await bench.turn('turn_a', other)).turn.status, 'open')
    })

    test('is lost at once when its recorder was closed', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      await owner.openTurn(openOf('turn_a'))
      await owner.close()
      assert.equal(await other.sweep(), 1)
      assert.equal((await bench.turn('turn_a', other)).turn.status, 'lost')
    })

    test('keeps its text and usage, and ends for its readers', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a')
      const at = stamper(open)
      // Ids come from models.
      const odd = 'constructor'
      const written = [
        at(0, { type: 'start', model: 'm' }),
        at(1, { type: 'text_delta', text: 'Let me look.', attempt: 1 }),
        at(1, { type: 'usage', usage: EXACT_USAGE }),
        at(1, {
          type: 'message',
          message: assistant([{ type: 'text', text: 'Let me look.' }, call(odd), call('call_2')]),
        }),
        at(1, requestOf(odd)),
        at(1, requestOf('call_2')),
      ]
      await owner.openTurn(open)
      await owner.record('turn_a', [
        { type: 'messages', step: 0, messages: [user('Find it.')] },
        ...entriesOf(written),
        { type: 'tool_start', step: 1, callId: odd, name: 'search', input: '{}', idempotencyKey: 'key', at: STARTED_AT },
      ])
      bench.pass(LEASE_MS + 1)
      assert.equal(await other.sweep(), 1)
      assert.equal(await other.sweep(), 0)

      const { turn, events } = await bench.turn('turn_a', other)
      assert.equal(turn.status, 'lost')
      assert.equal(turn.text, 'Let me look.')
      assert.deepEqual(turn.usage, EXACT_USAGE)
      assert.equal(turn.error?.code, 'turn_lost')
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
      // Only what had begun may have had an effect, under the key by which it can be recognised.
      const results = history.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'))
      for (const [first, second] of [[started, notStarted], results]) {
        assert.deepEqual(first?.unknownEffects, { idempotencyKey: 'key' })
        assert.equal(second?.unknownEffects, undefined)
      }
    })

    test('lasted no time when the clock was set back before its last sign of life', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a', { startedAt: STARTED_AT + 60_000 })
      await owner.openTurn(open)
      await owner.record('turn_a', entriesOf([stamper(open)(0, { type: 'start', model: 'm' })]))
      bench.pass(LEASE_MS + 60_001)
      await other.sweep()
      assert.equal((await bench.turn('turn_a', other)).turn.latencyMs, 0)
    })

    test('and who had not begun ends with a beginning', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      await owner.openTurn(openOf('turn_a'))
      bench.pass(LEASE_MS + 1)
      const events = await other.read.events('turn_a')
      assert.deepEqual(
        events.map(({ type, seq }) => [type, seq]),
        [
          ['start', 0],
          ['error', 1],
        ],
      )
      assert.equal((await bench.turn('turn_a')).turn.usage.exactness, 'unknown')
    })

    test('is told so when it comes back, and changes nothing', async (bench) => {
      const [owner, other] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a')
      const at = stamper(open)
      await owner.openTurn(open)
      await owner.record('turn_a', entriesOf([at(0, { type: 'start', model: 'm' })]))
      bench.pass(LEASE_MS + 1)
      await other.sweep()
      const before = await bench.turn('turn_a', other)
      const delta = at(1, { type: 'text_delta', text: 'Late.', attempt: 1 })
      await rejects('turn_lost', async () => owner.record('turn_a', entriesOf([delta])))
      await rejects('turn_lost', async () => owner.record('turn_a', entriesOf([delta])))
      const end = { ...at(1, { type: 'cancelled', reason: 'Late.' }), seq: 1 }
      await rejects('turn_lost', async () => owner.closeTurn('turn_a', closeOf(end)))
      assert.deepEqual(await bench.turn('turn_a', other), before)
    })
  })
}
