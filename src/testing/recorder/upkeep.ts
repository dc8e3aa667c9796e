/** Tests statistics and removal of turns: by age and size, and by users and tags. */

import assert from 'node:assert/strict'
import { system, user } from '../../core/message.ts'
import type { PromptVersion } from '../../core/prompt.ts'
import type { JournalKeeper, PromptStats, Recorder, StatsSums, TurnOpen } from '../../core/recorder.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, openOf, resultOf, stamper } from '../turns.ts'
import { begin, CANCELLED, complete, listed, rejects, say } from './bench.ts'
import type { Suite } from './bench.ts'

export function upkeepTests({ describe, test }: Suite): void {
  describe('upkeep', () => {
    test('counts turns, tokens and cost by day and model', async (recorder) => {
      const usage = { usage: EXACT_USAGE, costUsd: 0.25 }
      await say(recorder, 'turn_a', 'One.', {}, [], usage)
      await say(recorder, 'turn_b', 'Two.', {}, [], { ...usage, costUsd: null })
      await say(recorder, 'turn_c', 'Three.', { startedAt: STARTED_AT + 86_400_000 })
      await (await begin(recorder, 'turn_d')).close(0, CANCELLED, usage)
      const [second, first] = [
        { turns: 1, unfinished: 0 },
        { turns: 3, unfinished: 1 },
      ]
      const none = { inputTokens: 0, outputTokens: 0, unknownUsage: 1, costUsd: 0, unknownCost: 1 }
      const all = { inputTokens: 300, outputTokens: 60, unknownUsage: 0, costUsd: 0.5, unknownCost: 1 }
      assert.deepEqual(await recorder.stats(), [
        { day: '2023-11-15', model: 'test/model', ...second, ...none },
        { day: '2023-11-14', model: 'test/model', ...first, ...all },
      ])
    })

    test('REC-PROMPT-001 numbers the versions of prompts, and adds up the use of each', async (recorder, bench) => {
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
      assert.deepEqual(await recorder.prompts('unknown'), [])
      assert.deepEqual((await bench.turn('turn_b')).prompts, [
        { name: 'review', hash: '2'.repeat(64), version: 2 },
        { name: 'tone', hash: '1'.repeat(64), version: 1 },
      ])
    })

    test('divides the use of a turn among the models called; the turn counts for the answering model', async (recorder) => {
      const models = [
        { model: 'test/first', requests: 2, inputTokens: 30, outputTokens: 1, costUsd: 0.25 },
        { model: 'test/model', requests: 1, inputTokens: 70, outputTokens: 19, costUsd: null },
      ]
      const turn = await begin(recorder, 'turn_a')
      const result = { ...resultOf(turn.open, 'Yes.'), costUsd: null }
      const { metrics } = closeOf(stamper(turn.open)(0, { type: 'complete', result }))
      await turn.close(0, { type: 'complete', result }, { usage: EXACT_USAGE, metrics: { ...metrics, models } })
      const sums = { unfinished: 0, unknownUsage: 0 }
      assert.deepEqual(
        (await recorder.stats()).map(({ day: _, ...row }) => row),
        [
          { ...sums, model: 'test/first', turns: 0, inputTokens: 30, outputTokens: 1, costUsd: 0.25, unknownCost: 0 },
          { ...sums, model: 'test/model', turns: 1, inputTokens: 70, outputTokens: 19, costUsd: 0, unknownCost: 1 },
        ],
      )
    })

    test('counts turns, tokens and cost by session, newest session first', async (recorder) => {
      const usage = { usage: EXACT_USAGE, costUsd: 0.25 }
      for (const [turnId, sessionId, later] of [
        ['turn_a', 'one', 0],
        ['turn_b', 'two', 1000],
        ['turn_c', 'one', 2000],
      ] as const)
        await say(recorder, turnId, 'Yes.', { sessionId, startedAt: STARTED_AT + later }, [], usage)
      const sums = { unfinished: 0, unknownUsage: 0, unknownCost: 0 }
      const one = { sessionId: 'one', userId: null, startedAt: STARTED_AT, lastTurnAt: STARTED_AT + 2000, turns: 2, costUsd: 0.5 }
      const later = { startedAt: STARTED_AT + 1000, lastTurnAt: STARTED_AT + 1000 }
      const two = { sessionId: 'two', userId: null, ...later, turns: 1, costUsd: 0.25 }
      assert.deepEqual(await recorder.sessionStats(), [
        { ...sums, ...one, inputTokens: 200, outputTokens: 40 },
        { ...sums, ...two, inputTokens: 100, outputTokens: 20 },
      ])
      assert.deepEqual((await recorder.sessionStats(1)).length, 1)
    })

    test('removes turns that are too old, and reports them', async (recorder, bench) => {
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
      assert.equal((await listed(recorder)).length, 11)
      const report = await recorder.gc(limits)
      assert.deepEqual({ ...planned, bytes: 0 }, { ...report, bytes: 0, dryRun: true })
      assert.equal(report.turns, 6)
      assert.equal(report.sessions, 1)
      assert.equal(report.oldest, bench.clock.now() - 10 * day)
      assert.equal(report.newest, bench.clock.now() - 5 * day)
      assert.deepEqual(await listed(recorder), ['turn_open', 'turn_9', 'turn_8', 'turn_7', 'turn_6'])
      assert.deepEqual(await listed(recorder, { search: 'number3' }), [])
      assert.deepEqual((await bench.turn('turn_7')).messages[0], shared)
      assert.equal((await recorder.read.history('session_1')).length, 2)
      await say(recorder, 'turn_10', 'Answer.', { sessionId: 'session_1' })
      assert.equal((await recorder.read.history('session_1')).length, 4)
    })
  })
}

const USED = { usage: EXACT_USAGE, costUsd: 0.25 }

async function sayAs(recorder: Recorder, turnId: string, changes: Partial<TurnOpen>): Promise<void> {
  await say(recorder, turnId, `The answer of ${turnId}.`, { sessionId: `session_${turnId}`, ...changes }, undefined, USED)
}

/** Writes two turns of ada, one of bob and one without a user. */
async function fill(recorder: Recorder & JournalKeeper): Promise<void> {
  await sayAs(recorder, 'turn_a', { userId: 'ada', tags: ['beta', 'team:red'] })
  await sayAs(recorder, 'turn_b', { userId: 'bob', tags: ['beta', 'beta'], startedAt: STARTED_AT + 1000 })
  await sayAs(recorder, 'turn_c', { userId: 'ada', sessionId: 'session_turn_a', startedAt: STARTED_AT + 2000 })
  await sayAs(recorder, 'turn_d', {})
}

export function peopleTests({ describe, test }: Suite): void {
  describe('users and tags', () => {
    test('filter the turns of a list, also combined with other filters', async (recorder, bench) => {
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

    test('a session belongs to its first user', async (recorder) => {
      await sayAs(recorder, 'turn_a', { sessionId: 'shared' })
      await sayAs(recorder, 'turn_b', { sessionId: 'shared', userId: 'ada' })
      await sayAs(recorder, 'turn_c', { sessionId: 'shared' })
      await rejects('permission_denied', async () => recorder.openTurn(openOf('turn_d', { sessionId: 'shared', userId: 'bob' })))
      assert.deepEqual(await listed(recorder, { userId: 'ada' }), ['turn_c', 'turn_b', 'turn_a'])
      assert.deepEqual(await listed(recorder, { sessionId: 'shared' }), ['turn_c', 'turn_b', 'turn_a'])
    })

    test('have their own sums', async (recorder) => {
      await fill(recorder)
      await recorder.openTurn(
        openOf('turn_e', { userId: 'bob', sessionId: 'session_turn_b', startedAt: STARTED_AT + 3000, tags: ['beta'] }),
      )
      const sums = ({ turns, inputTokens, costUsd, unknownUsage }: StatsSums): string =>
        `${turns} turns, ${inputTokens} tokens, $${costUsd}, ${unknownUsage} unknown`
      const users = (await recorder.userStats()).map(
        (row) => `${row.userId}: ${row.sessions} session to ${row.lastTurnAt - STARTED_AT}, ${sums(row)}`,
      )
      assert.deepEqual(users, [
        'bob: 1 session to 3000, 2 turns, 100 tokens, $0.25, 1 unknown',
        'ada: 1 session to 2000, 2 turns, 200 tokens, $0.5, 0 unknown',
      ])
      const tags = (await recorder.tagStats()).map((row) => `${row.tag} to ${row.lastTurnAt - STARTED_AT}: ${sums(row)}`)
      assert.deepEqual(tags, [
        'beta to 3000: 3 turns, 200 tokens, $0.5, 1 unknown',
        'team:red to 0: 1 turns, 100 tokens, $0.25, 0 unknown',
      ])
      const ofAda = (await recorder.stats({ userId: 'ada' })).map((row) => `${row.day}: ${sums(row)}`)
      assert.deepEqual(ofAda, ['2023-11-14: 2 turns, 200 tokens, $0.5, 0 unknown'])
      assert.deepEqual((await recorder.stats({ tags: ['beta'] })).map(sums), ['3 turns, 200 tokens, $0.5, 1 unknown'])
      assert.deepEqual(await recorder.stats({ userId: 'unknown' }), [])
      const sessions = await recorder.sessionStats(50, { userId: 'ada' })
      assert.deepEqual(
        sessions.map((row) => `${row.sessionId} of ${row.userId}: ${sums(row)}`),
        ['session_turn_a of ada: 2 turns, 200 tokens, $0.5, 0 unknown'],
      )
    })

    test('are deleted with all their messages; equal messages of others stay', async (recorder, bench) => {
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

    test('are deleted by session and by tag, with the sessions that their tools started', async (recorder) => {
      await sayAs(recorder, 'turn_a', { sessionId: 'one' })
      const inner = await begin(recorder, 'turn_inner', { sessionId: 'inner', spanId: 'fedcba9876543210' })
      const calledBy = { turnId: 'turn_a', callId: 'call_1' }
      await inner.events([0, { type: 'start', model: inner.open.model, calledBy }])
      await inner.close(1, complete(inner.open, 'Inner.'))
      const { traceId, spanId, turnId } = inner.open
      const ids = { traceId, spanId, parentSpanId: null, name: 'query', turnId }
      const span = { ...ids, startedAt: STARTED_AT, endedAt: STARTED_AT, attributes: {}, events: [], status: 'ok' } as const
      await recorder.span(span)
      await sayAs(recorder, 'turn_b', { sessionId: 'two', tags: ['beta'] })
      await sayAs(recorder, 'turn_c', { sessionId: 'two' })
      await sayAs(recorder, 'turn_d', { sessionId: 'three' })
      assert.deepEqual(await recorder.deleteSession('one'), { turns: 2, sessions: 2, wiped: true })
      assert.deepEqual(await recorder.deleteTagged('beta'), { turns: 2, sessions: 1, wiped: true })
      assert.deepEqual(await listed(recorder, {}), ['turn_d'])
      assert.deepEqual(await recorder.deleteSession('nothing'), { turns: 0, sessions: 0, wiped: true })
    })

    test('are not deleted while one of their turns runs, in any recorder', async (runner, bench) => {
      const recorder = await bench.open()
      await sayAs(runner, 'turn_a', { userId: 'ada' })
      const turn = await begin(runner, 'turn_b', { userId: 'ada', sessionId: 'two' })
      await rejects('session_busy', async () => recorder.deleteUser('ada'))
      assert.deepEqual(await listed(recorder, {}), ['turn_b', 'turn_a'])
      await turn.close(0, CANCELLED)
      assert.deepEqual(await recorder.deleteUser('ada'), { turns: 2, sessions: 2, wiped: true })
    })
  })
}
