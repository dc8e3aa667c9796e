/** Users and tags: what is listed, counted and deleted by them. */

import assert from 'node:assert/strict'
import type { JournalKeeper, ListTurns, Recorder, TurnOpen } from '../../core/recorder.ts'
import { EXACT_USAGE, STARTED_AT, openOf } from '../turns.ts'
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
  })
}
