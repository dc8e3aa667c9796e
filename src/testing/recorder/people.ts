/** Users and tags: what is listed, counted and deleted by them. */

import assert from 'node:assert/strict'
import type { JournalKeeper, ListTurns, Recorder, TurnOpen } from '../../core/recorder.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, entriesOf, openOf, resultOf, stamper } from '../turns.ts'
import { rejects, say } from './bench.ts'
import type { Suite } from './bench.ts'

const USED = { usage: EXACT_USAGE, costUsd: 0.25 }

async function sayAs(recorder: Recorder, turnId: string, changes: Partial<TurnOpen>): Promise<void> {
  await say(recorder, turnId, `The answer of ${turnId}.`, { sessionId: `session_${turnId}`, ...changes }, undefined, USED)
}

async function listed(recorder: Recorder, query: ListTurns): Promise<string[]> {
  return (await recorder.read.turns(query)).turns.map(({ turnId }) => turnId)
}

/** Two turns of ada, one of bob, one of nobody. */
async function fill(recorder: Recorder & JournalKeeper): Promise<void> {
  await sayAs(recorder, 'turn_a', { userId: 'ada', tags: ['beta', 'team:red'] })
  await sayAs(recorder, 'turn_b', { userId: 'bob', tags: ['beta', 'beta'], startedAt: STARTED_AT + 1000 })
  await sayAs(recorder, 'turn_c', { userId: 'ada', sessionId: 'session_turn_a', startedAt: STARTED_AT + 2000 })
  await sayAs(recorder, 'turn_d', {})
}

export function peopleTests({ describe, test }: Suite): void {
  describe('users and tags', () => {
    test('choose the turns of a list, together and with what else chooses', async (bench) => {
      const recorder = await bench.open()
      await fill(recorder)
      assert.deepEqual(await listed(recorder, { userId: 'ada' }), ['turn_c', 'turn_a'])
      assert.deepEqual(await listed(recorder, { tags: ['beta'] }), ['turn_b', 'turn_a'])
      assert.deepEqual(await listed(recorder, { tags: ['beta', 'team:red'] }), ['turn_a'])
      assert.deepEqual(await listed(recorder, { userId: 'bob', tags: ['team:red'] }), [])
      assert.deepEqual(await listed(recorder, { userId: 'ada', search: 'turn_c' }), ['turn_c'])
      assert.deepEqual(await listed(recorder, { userId: "ada' OR 1=1 --" }), [])
      const { turn } = await bench.turn('turn_b')
      assert.equal(turn.userId, 'bob')
      assert.deepEqual(turn.tags, ['beta'])
      assert.equal((await bench.turn('turn_d')).turn.userId, null)
    })

    test('a session belongs to the first user that is named in it', async (bench) => {
      const recorder = await bench.open()
      await sayAs(recorder, 'turn_a', { sessionId: 'shared' })
      await sayAs(recorder, 'turn_b', { sessionId: 'shared', userId: 'ada' })
      await sayAs(recorder, 'turn_c', { sessionId: 'shared' })
      await rejects('permission_denied', async () => recorder.openTurn(openOf('turn_d', { sessionId: 'shared', userId: 'bob' })))
      assert.deepEqual(await listed(recorder, { userId: 'ada' }), ['turn_c', 'turn_b', 'turn_a'])
      assert.deepEqual(await listed(recorder, { sessionId: 'shared' }), ['turn_c', 'turn_b', 'turn_a'])
    })

    test('have sums of their own', async (bench) => {
      const recorder = await bench.open()
      await fill(recorder)
      await recorder.openTurn(
        openOf('turn_e', { userId: 'bob', sessionId: 'session_turn_b', startedAt: STARTED_AT + 3000, tags: ['beta'] }),
      )
      const sums = ({ turns, inputTokens, costUsd, unknownUsage }: Record<string, unknown>): unknown[] => [
        turns,
        inputTokens,
        costUsd,
        unknownUsage,
      ]
      const users = await recorder.userStats()
      assert.deepEqual(
        users.map((row) => [row.userId, row.sessions, row.lastTurnAt - STARTED_AT, ...sums({ ...row })]),
        [
          ['bob', 1, 3000, 2, 100, 0.25, 1],
          ['ada', 1, 2000, 2, 200, 0.5, 0],
        ],
      )
      const tags = await recorder.tagStats()
      assert.deepEqual(
        tags.map((row) => [row.tag, row.lastTurnAt - STARTED_AT, ...sums({ ...row })]),
        [
          ['beta', 3000, 3, 200, 0.5, 1],
          ['team:red', 0, 1, 100, 0.25, 0],
        ],
      )
      assert.deepEqual(
        (await recorder.stats({ userId: 'ada' })).map((row) => [row.day, ...sums({ ...row })]),
        [['2023-11-14', 2, 200, 0.5, 0]],
      )
      assert.deepEqual(
        (await recorder.stats({ tags: ['beta'] })).map((row) => sums({ ...row })),
        [[3, 200, 0.5, 1]],
      )
      assert.deepEqual(await recorder.stats({ userId: 'nobody' }), [])
      const sessions = await recorder.sessionStats(50, { userId: 'ada' })
      assert.deepEqual(
        sessions.map((row) => [row.sessionId, row.userId, ...sums({ ...row })]),
        [['session_turn_a', 'ada', 2, 200, 0.5, 0]],
      )
    })

    test('are deleted with all that was said, and what others said as well stays with them', async (bench) => {
      const recorder = await bench.open()
      const question = 'Where is the harbour?'
      await sayAs(recorder, 'turn_a', { userId: 'ada', question })
      await sayAs(recorder, 'turn_b', { userId: 'bob', question })
      await sayAs(recorder, 'turn_c', { userId: 'ada', tags: ['beta'] })
      await recorder.feedback({ at: STARTED_AT, choice: 'first', first: 'turn_a', second: 'turn_b', question })
      await recorder.feedback({ at: STARTED_AT, choice: 'first', first: 'turn_b', second: 'turn_b', question })
      assert.deepEqual(await recorder.deleteUser('ada'), { turns: 2, sessions: 2, wiped: true })
      assert.deepEqual(await listed(recorder, {}), ['turn_b'])
      assert.deepEqual(await listed(recorder, { search: 'turn_a' }), [])
      assert.equal(await recorder.read.turn('turn_a'), undefined)
      assert.deepEqual(await recorder.read.events('turn_a'), [])
      assert.deepEqual(await recorder.read.history('session_turn_a'), [])
      assert.deepEqual((await bench.turn('turn_b')).messages[0]?.content, question)
      assert.deepEqual(
        (await recorder.read.feedback()).map(({ first }) => first),
        ['turn_b'],
      )
      assert.deepEqual(
        (await recorder.userStats()).map(({ userId }) => userId),
        ['bob'],
      )
      assert.deepEqual(await recorder.tagStats(), [])
      assert.deepEqual(
        (await recorder.stats()).map(({ turns, costUsd }) => [turns, costUsd]),
        [[1, 0.25]],
      )
      assert.deepEqual(await recorder.deleteUser('ada'), { turns: 0, sessions: 0, wiped: true })
      await rejects('configuration', async () => recorder.deleteUser(''))
    })

    test('are deleted by session and by tag, with the sessions that their tools began', async (bench) => {
      const recorder = await bench.open()
      await sayAs(recorder, 'turn_a', { sessionId: 'one' })
      const inner = openOf('turn_inner', { sessionId: 'inner', spanId: 'fedcba9876543210' })
      const at = stamper(inner)
      await recorder.openTurn(inner)
      const calledBy = { turnId: 'turn_a', callId: 'call_1' }
      await recorder.record('turn_inner', entriesOf([at(0, { type: 'start', model: inner.model, calledBy })]))
      await recorder.closeTurn('turn_inner', closeOf(at(1, { type: 'complete', result: resultOf(inner, 'Inner.') })))
      await recorder.span({
        traceId: inner.traceId,
        spanId: inner.spanId,
        parentSpanId: null,
        name: 'query',
        turnId: 'turn_inner',
        startedAt: STARTED_AT,
        endedAt: STARTED_AT,
        attributes: {},
        events: [],
        status: 'ok',
      })
      await sayAs(recorder, 'turn_b', { sessionId: 'two', tags: ['beta'] })
      await sayAs(recorder, 'turn_c', { sessionId: 'two' })
      await sayAs(recorder, 'turn_d', { sessionId: 'three' })
      assert.deepEqual(await recorder.deleteSession('one'), { turns: 2, sessions: 2, wiped: true })
      assert.deepEqual(await recorder.deleteTagged('beta'), { turns: 2, sessions: 1, wiped: true })
      assert.deepEqual(await listed(recorder, {}), ['turn_d'])
      assert.deepEqual(await recorder.deleteSession('nothing'), { turns: 0, sessions: 0, wiped: true })
    })

    test('are not deleted while a turn of theirs runs, whoever runs it', async (bench) => {
      const [runner, recorder] = [await bench.open(), await bench.open()]
      await sayAs(runner, 'turn_a', { userId: 'ada' })
      const open = openOf('turn_b', { userId: 'ada', sessionId: 'two' })
      await runner.openTurn(open)
      await rejects('session_busy', async () => recorder.deleteUser('ada'))
      assert.deepEqual(await listed(recorder, {}), ['turn_b', 'turn_a'])
      await runner.closeTurn('turn_b', closeOf(stamper(open)(0, { type: 'cancelled', reason: 'Enough.' })))
      assert.deepEqual(await recorder.deleteUser('ada'), { turns: 2, sessions: 2, wiped: true })
    })
  })
}
