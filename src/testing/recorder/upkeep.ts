/** Sums, and what makes a journal smaller. */

import assert from 'node:assert/strict'
import { system, user } from '../../core/message.ts'
import type { PromptVersion } from '../../core/prompt.ts'
import type { PromptStats } from '../../core/recorder.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, openOf, resultOf, stamper } from '../turns.ts'
import { say } from './bench.ts'
import type { Suite } from './bench.ts'

export function upkeepTests({ describe, test }: Suite): void {
  describe('upkeep', () => {
    test('counts turns, tokens and cost by day and model', async (bench) => {
      const recorder = await bench.open()
      const usage = { usage: EXACT_USAGE, costUsd: 0.25 }
      await say(recorder, 'turn_a', 'One.', {}, [], usage)
      await say(recorder, 'turn_b', 'Two.', {}, [], { ...usage, costUsd: null })
      await say(recorder, 'turn_c', 'Three.', { startedAt: STARTED_AT + 86_400_000 })
      await recorder.openTurn(openOf('turn_d'))
      const end = stamper(openOf('turn_d'))(0, { type: 'cancelled', reason: 'Enough.' })
      await recorder.closeTurn('turn_d', closeOf(end, usage))
      assert.deepEqual(await recorder.stats(), [
        {
          day: '2023-11-15',
          model: 'test/model',
          turns: 1,
          unfinished: 0,
          inputTokens: 0,
          outputTokens: 0,
          unknownUsage: 1,
          costUsd: 0,
          unknownCost: 1,
        },
        {
          day: '2023-11-14',
          model: 'test/model',
          turns: 3,
          unfinished: 1,
          inputTokens: 300,
          outputTokens: 60,
          unknownUsage: 0,
          costUsd: 0.5,
          unknownCost: 1,
        },
      ])
    })

    test('REC-PROMPT-001 counts the versions of prompts, and what the turns of each used', async (bench) => {
      const recorder = await bench.open()
      const versionOf = (name: string, n: number): PromptVersion => ({ name, hash: `${n}`.repeat(64), template: `T${n}` })
      const usage = { usage: EXACT_USAGE, costUsd: 0.25 }
      const asked = (...prompts: PromptVersion[]) => ({ promptHash: prompts[0]?.hash ?? null, prompts })
      await say(recorder, 'turn_a', 'One.', asked(versionOf('review', 1)), [], usage)
      await say(recorder, 'turn_b', 'Two.', asked(versionOf('review', 2), versionOf('tone', 1)), [], usage)
      bench.pass(1000)
      const later = { ...asked(versionOf('review', 2)), startedAt: STARTED_AT + 1000 }
      await say(recorder, 'turn_c', 'Three.', later, [], { ...usage, costUsd: null })
      await say(recorder, 'turn_d', 'Four.', { promptHash: 'f'.repeat(64) }, [], usage)
      await recorder.rate('turn_b', 5)
      await recorder.rate('turn_c', 5)
      const short = (rows: readonly PromptStats[]) =>
        rows.map(({ name, version, template, turns, costUsd, unknownCost, inputTokens, lastUsedAt, ratings }) => [
          `${name} v${version}`,
          template,
          { turns, costUsd, unknownCost, inputTokens, last: (lastUsedAt ?? 0) - STARTED_AT, ratings },
        ])
      const once = { turns: 1, costUsd: 0.25, unknownCost: 0, inputTokens: 100, last: 0 }
      assert.deepEqual(short(await recorder.prompts()), [
        ['librarian v1', null, { ...once, ratings: {} }],
        ['review v1', 'T1', { ...once, ratings: {} }],
        ['review v2', 'T2', { turns: 2, costUsd: 0.25, unknownCost: 1, inputTokens: 200, last: 1000, ratings: { 5: 2 } }],
        ['tone v1', 'T1', { ...once, ratings: { 5: 1 } }],
      ])
      assert.deepEqual(
        (await recorder.prompts('tone')).map(({ name }) => name),
        ['tone'],
      )
      assert.deepEqual(await recorder.prompts('nobody'), [])
      assert.deepEqual((await bench.turn('turn_b')).prompts, [
        { name: 'review', hash: '2'.repeat(64), version: 2 },
        { name: 'tone', hash: '1'.repeat(64), version: 1 },
      ])
    })

    test('divides what a turn used among the models that were asked; the turn is the one’s that answered', async (bench) => {
      const recorder = await bench.open()
      const models = [
        { model: 'test/first', requests: 2, inputTokens: 30, outputTokens: 1, costUsd: 0.25 },
        { model: 'test/model', requests: 1, inputTokens: 70, outputTokens: 19, costUsd: null },
      ]
      const answer = { ...resultOf(openOf('turn_a'), 'Yes.'), costUsd: null }
      await recorder.openTurn(openOf('turn_a'))
      const close = closeOf(stamper(openOf('turn_a'))(0, { type: 'complete', result: answer }), { usage: EXACT_USAGE })
      await recorder.closeTurn('turn_a', { ...close, metrics: { ...close.metrics, models } })
      const rows = await recorder.stats()
      assert.deepEqual(
        rows.map(({ model, turns, inputTokens, outputTokens, costUsd, unknownCost }) => [
          model,
          turns,
          inputTokens,
          outputTokens,
          costUsd,
          unknownCost,
        ]),
        [
          ['test/first', 0, 30, 1, 0.25, 0],
          ['test/model', 1, 70, 19, 0, 1],
        ],
      )
    })

    test('counts turns, tokens and cost by session, the last one first', async (bench) => {
      const recorder = await bench.open()
      const usage = { usage: EXACT_USAGE, costUsd: 0.25 }
      for (const [turnId, sessionId, later] of [
        ['turn_a', 'one', 0],
        ['turn_b', 'two', 1000],
        ['turn_c', 'one', 2000],
      ] as const)
        await say(recorder, turnId, 'Yes.', { sessionId, startedAt: STARTED_AT + later }, [], usage)
      const sums = { unfinished: 0, unknownUsage: 0, unknownCost: 0 }
      const one = { sessionId: 'one', userId: null, startedAt: STARTED_AT, lastTurnAt: STARTED_AT + 2000, turns: 2, costUsd: 0.5 }
      const two = {
        sessionId: 'two',
        userId: null,
        startedAt: STARTED_AT + 1000,
        lastTurnAt: STARTED_AT + 1000,
        turns: 1,
        costUsd: 0.25,
      }
      assert.deepEqual(await recorder.sessionStats(), [
        { ...sums, ...one, inputTokens: 200, outputTokens: 40 },
        { ...sums, ...two, inputTokens: 100, outputTokens: 20 },
      ])
      assert.deepEqual((await recorder.sessionStats(1)).length, 1)
    })

    test('removes what is too old, and says what', async (bench) => {
      const recorder = await bench.open()
      const day = 86_400_000
      const shared = system('The same for all.')
      for (let n = 0; n < 10; n++) {
        const startedAt = bench.clock.now() - (10 - n) * day
        await say(recorder, `turn_${n}`, `Answer number${n}.`, { startedAt, sessionId: `session_${n % 5}` }, [
          shared,
          user(`Ask ${n}`),
        ])
      }
      await recorder.openTurn(openOf('turn_open', { startedAt: bench.clock.now() - 20 * day, sessionId: 'session_open' }))
      const limits = { maxAgeMs: 4.5 * day, maxBytes: Number.MAX_SAFE_INTEGER }
      const planned = await recorder.gc({ ...limits, dryRun: true })
      assert.equal((await recorder.read.turns()).turns.length, 11)
      const report = await recorder.gc(limits)
      assert.deepEqual({ ...planned, bytes: 0 }, { ...report, bytes: 0, dryRun: true })
      assert.equal(report.turns, 6)
      assert.equal(report.sessions, 1)
      assert.equal(report.oldest, bench.clock.now() - 10 * day)
      assert.equal(report.newest, bench.clock.now() - 5 * day)
      const left = (await recorder.read.turns()).turns.map(({ turnId }) => turnId)
      assert.deepEqual(left, ['turn_open', 'turn_9', 'turn_8', 'turn_7', 'turn_6'])
      assert.deepEqual((await recorder.read.turns({ search: 'number3' })).turns, [])
      assert.deepEqual((await bench.turn('turn_7')).messages[0], shared)
      assert.equal((await recorder.read.history('session_1')).length, 2)
      await say(recorder, 'turn_10', 'Answer.', { sessionId: 'session_1' })
      assert.equal((await recorder.read.history('session_1')).length, 4)
    })
  })
}
