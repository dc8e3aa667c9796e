/** Tests lists of turns, and data attached to turns: ratings, feedback, spans. */

import assert from 'node:assert/strict'
import type { SpanRecord } from '../../core/span.ts'
import { STARTED_AT, openOf } from '../turns.ts'
import { listed, rejects, say } from './bench.ts'
import type { Suite } from './bench.ts'

export function listTests({ describe, test }: Suite): void {
  describe('lists', () => {
    test('are newest first, and continue at the cursor', async (recorder) => {
      const ids = Array.from({ length: 25 }, (_, n) => `turn_${String(n).padStart(2, '0')}`)
      for (const id of ids) await say(recorder, id, 'Yes.')
      const seen: string[] = []
      let cursor: string | null | undefined
      let pages = 0
      while (cursor !== null) {
        const list = await recorder.read.turns({ limit: 10, ...(cursor === undefined ? {} : { cursor }) })
        seen.push(...list.turns.map(({ turnId }) => turnId))
        cursor = list.nextCursor
        pages += 1
        // Turns written in between do not shift the pages.
        await say(recorder, `turn_new_${pages}`, 'Yes.')
      }
      assert.equal(pages, 3)
      assert.deepEqual(seen, ids.toReversed())
    })

    test('refuse an invalid cursor or limit', async (recorder) => {
      for (const cursor of ['x', '', '-1', `1 OR 1=1`])
        await rejects('configuration', async () => recorder.read.turns({ cursor }))
      for (const limit of [0, -1, 1.5, Number.NaN]) await rejects('configuration', async () => recorder.read.turns({ limit }))
    })

    test('are narrowed by state, model and session', async (recorder) => {
      await say(recorder, 'turn_a', 'One.')
      await say(recorder, 'turn_b', 'Two.', { sessionId: 'other' })
      await recorder.openTurn(openOf('turn_c', { model: 'test/third' }))
      assert.deepEqual(await listed(recorder, { status: 'done' }), ['turn_b', 'turn_a'])
      assert.deepEqual(await listed(recorder, { model: 'test/third' }), ['turn_c'])
      assert.deepEqual(await listed(recorder, { sessionId: 'session' }), ['turn_c', 'turn_a'])
      assert.deepEqual(await listed(recorder, { sessionId: 'session', status: 'open', model: 'test/model' }), [])
    })
  })

  describe('data attached to turns', () => {
    test('a rating is stored, changed and withdrawn', async (recorder, bench) => {
      await say(recorder, 'turn_a', 'One.')
      const rating = async (): Promise<unknown[]> => {
        const { turn } = await bench.turn('turn_a')
        return [turn.rating, turn.ratingComment]
      }
      await recorder.rate('turn_a', 4, 'Nearly.')
      assert.deepEqual(await rating(), [4, 'Nearly.'])
      await recorder.rate('turn_a', -1)
      assert.deepEqual(await rating(), [-1, null])
      await recorder.rate('turn_a', null)
      assert.deepEqual(await rating(), [null, null])
      for (const wrong of [0, 6, -2, 1.5, Number.NaN]) await rejects('configuration', async () => recorder.rate('turn_a', wrong))
      await rejects('not_found', async () => recorder.rate('turn_none', 1))
    })

    test('feedback is stored in order', async (recorder) => {
      const base = { first: 'turn_a', second: 'turn_b', question: 'Which?' }
      const given = [
        { ...base, at: 1, choice: 'first' as const },
        { ...base, at: 2, choice: 'none' as const, details: { shown: ['a', 'b'], seed: 7 } },
      ]
      for (const feedback of given) await recorder.feedback(feedback)
      assert.deepEqual(await recorder.read.feedback(), given)
    })

    test('REC-SPAN-001 the spans of a turn, and those around it, are read with it', async (recorder, bench) => {
      const span = (spanId: string, changes: Partial<SpanRecord>): SpanRecord => ({
        traceId: 'aa'.repeat(16),
        spanId,
        parentSpanId: null,
        name: 'query',
        startedAt: STARTED_AT,
        endedAt: STARTED_AT + 5,
        attributes: { 'gen_ai.request.model': 'test/model', nested: { list: [1, null, 'x'] } },
        events: [],
        status: 'ok',
        ...changes,
      })
      const around = span('01', { name: 'querybot.ask', startedAt: STARTED_AT - 1 })
      const events = [{ name: 'chunk', at: STARTED_AT, attributes: { n: 1 } }]
      const inside = span('02', { parentSpanId: '01', turnId: 'turn_a', events })
      const failure = { startedAt: STARTED_AT + 2, status: 'error', error: 'No.' } as const
      const failed = span('03', { parentSpanId: '02', turnId: 'turn_a', ...failure })
      await say(recorder, 'turn_a', 'One.', { traceId: around.traceId })
      for (const one of [failed, inside, around]) await recorder.span(one)
      await recorder.span(span('04', { turnId: 'turn_b' }))
      await recorder.span(span('05', { traceId: 'bb'.repeat(16) }))
      assert.deepEqual((await bench.turn('turn_a')).spans, [around, inside, failed])
    })
  })
}

export function searchTests({ describe, test }: Suite): void {
  describe('searches', () => {
    test('find the words of questions and answers', async (recorder) => {
      await say(recorder, 'turn_a', 'The harbour lies in the east.', { question: "Where is the harbour? Don't guess." })
      await say(recorder, 'turn_b', 'Éclairs, multi-agent systems and "quoted" things: 100 %.', { question: 'What else?' })
      await say(recorder, 'turn_c', '東京は日本の首都です。', { question: '首都はどこですか' })
      const cases: readonly [search: string, found: readonly string[]][] = [
        ['harbour', ['turn_a']],
        ['EAST where', ['turn_a']],
        ['harbour else', []],
        ["don't", ['turn_a']],
        ['eclairs', ['turn_b']],
        ['multi-agent', ['turn_b']],
        ['"quoted"', ['turn_b']],
        ['首都', ['turn_c']],
        ['日本', ['turn_c']],
      ]
      for (const [search, expected] of cases) assert.deepEqual(await listed(recorder, { search }), expected, search)
    })

    test('take every search literally', async (recorder) => {
      await say(recorder, 'turn_a', 'Nothing special.')
      const operators = [
        '"',
        "'",
        'AND',
        'OR NOT',
        'NEAR(',
        'NEAR(a b, 2)',
        'x:multi',
        'question:special',
        '*',
        'spec*',
        '(',
        '{a b}:c',
      ]
      const odd = ['', '   ', '\0', 'a\0b', '\uD800', '😀', ';--', '%', '\\', 'word '.repeat(10_000), 'x'.repeat(100_000)]
      for (const search of [...operators, ...odd])
        assert.deepEqual(await listed(recorder, { search }), [], JSON.stringify(search.slice(0, 40)))
      assert.deepEqual(await listed(recorder, { search: '^special "nothing" ;*' }), ['turn_a'])
    })
  })
}
