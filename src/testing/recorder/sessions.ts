/** Tests what is read across turns: the conversation of a session, lists of turns, and data attached to turns. */

import assert from 'node:assert/strict'
import type { EventBody } from '../../core/event.ts'
import { assistant, fromParts, retrieved, system, toolResult, user } from '../../core/message.ts'
import type { Recorder } from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { openOf, STARTED_AT } from '../turns.ts'
import { begin, call, CANCELLED, chunk, complete, delta, listed, rejects, requestOf, say } from './bench.ts'
import type { Suite } from './bench.ts'

export function sessionTests({ describe, test }: Suite): void {
  describe('a session', () => {
    test('has one exclusive turn at a time', async (one, bench) => {
      const other = await bench.open()
      const first = await begin(one, 'turn_a')
      await rejects('session_busy', async () => one.openTurn(openOf('turn_b')))
      await rejects('session_busy', async () => other.openTurn(openOf('turn_b')))
      assert.equal(await other.read.turn('turn_b'), undefined)
      await other.openTurn(openOf('turn_c', { sessionId: 'other' }))
      await first.close(0, CANCELLED)
      await other.openTurn(openOf('turn_b'))
    })

    test('may have parallel turns, which neither wait nor join the history', async (recorder) => {
      const first = await begin(recorder, 'turn_a')
      await say(recorder, 'turn_b', 'Beside.', { exclusive: false })
      await recorder.openTurn(openOf('turn_c', { exclusive: false }))
      await first.close(0, CANCELLED)
      await say(recorder, 'turn_d', 'Four.')
      assert.deepEqual(await said(recorder), ['user: What does turn_d ask?', 'assistant: Four.'])
    })

    test('belongs to its first user: a turn of another user is refused and not stored', async (recorder) => {
      await say(recorder, 'turn_a', 'One.', { sessionId: 'shared' })
      await say(recorder, 'turn_b', 'Two.', { sessionId: 'shared', userId: 'ada' })
      await say(recorder, 'turn_c', 'Three.', { sessionId: 'shared' })
      await rejects('permission_denied', async () => recorder.openTurn(openOf('turn_d', { sessionId: 'shared', userId: 'bob' })))
      assert.equal(await recorder.read.turn('turn_d'), undefined)
      await say(recorder, 'turn_e', 'Four.', { sessionId: 'shared', userId: 'ada' })
    })
  })

  describe('a history', () => {
    test('holds the messages, oldest first, without system prompts and retrieved text', async (recorder) => {
      const passage = retrieved({ marker: '1', origin: 'docstore', store: 'default', chunk: chunk('Some passage.') })
      const fenced = { ...passage, role: 'user' as const, content: '<<< Some passage. >>>' }
      await say(recorder, 'turn_a', 'One.', {}, [system('Be brief.'), passage, fenced, user('First?')])
      await say(recorder, 'turn_b', 'Two.')
      await say(recorder, 'turn_x', 'Elsewhere.', { sessionId: 'other' })
      const asked = ['user: First?', 'assistant: One.', 'user: What does turn_b ask?', 'assistant: Two.']
      assert.deepEqual(await said(recorder), asked)
    })

    test('returns messages unchanged, with their ids', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      const [asked, called, answer] = [user('Look it up.'), assistant([call('call_1')]), assistant('Found.')]
      const result = toolResult({ id: 'call_1', name: 'search', content: 'It.' })
      await turn.messages(0, asked)
      await turn.events([1, { type: 'message', message: called }], [1, requestOf('call_1')], [1, resultFor('call_1')])
      await turn.messages(1, result)
      await turn.events([2, { type: 'message', message: answer }])
      await turn.close(2, complete(turn.open, 'Found.'))
      assert.deepEqual(await recorder.read.history('session'), [asked, called, result, answer])
    })

    test('contains the partial text of a cancelled answer', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      await turn.messages(0, user('Tell me.'))
      await turn.events(
        [1, { type: 'thinking', content: 'Hm.', attempt: 1 }],
        [1, delta('Void')],
        [1, { type: 'reset', attempt: 1 }],
        [1, delta('Once upon', 2)],
      )
      await turn.close(1, CANCELLED, { text: 'Once upon' })
      assert.deepEqual(await said(recorder), ['user: Tell me.', 'assistant: Once upon'])
      const again = await recorder.read.history('session')
      assert.deepEqual(again, await recorder.read.history('session'))
    })

    test('leaves out a question without an answer', async (recorder) => {
      await say(recorder, 'turn_0', 'Zero.')
      const turn = await begin(recorder, 'turn_a')
      await turn.messages(0, user('Anybody there?'))
      await turn.close(1, CANCELLED)
      await say(recorder, 'turn_b', 'Two.')
      const asked = ['user: What does turn_0 ask?', 'assistant: Zero.', 'user: What does turn_b ask?', 'assistant: Two.']
      assert.deepEqual(await said(recorder), asked)
    })

    test('contains a result for every call of a failed turn, in the order of the calls', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      const called = assistant([call('call_1'), call('call_2'), call('call_3')])
      await turn.messages(0, user('Do it.'))
      await turn.events(
        [1, { type: 'message', message: called }],
        [1, requestOf('call_1')],
        [1, requestOf('call_2')],
        [1, resultFor('call_2')],
      )
      await turn.close(1, { type: 'error', error: { code: 'network', message: 'No route to host.', retryable: true } })
      const results = (await recorder.read.history('session')).slice(2).flatMap(({ parts }) => parts)
      assert.deepEqual(
        results.map((part) => (part.type === 'tool-result' ? `${part.id} ${part.isError}` : part)),
        ['call_1 true', 'call_2 false', 'call_3 true'],
      )
    })
  })

  describe('a history that was compacted', () => {
    const summary = fromParts('user', [{ type: 'text', text: 'Notes.' }], { summary: true })
    const asked = user('And now?')

    test('begins with the compacted messages, and the turns keep all their messages', async (recorder) => {
      await say(recorder, 'turn_a', 'One.')
      await say(recorder, 'turn_b', 'Two.')
      const [first, , , last] = await recorder.read.history('session')
      assert.ok(first !== undefined && last !== undefined)
      const turn = await begin(recorder, 'turn_c')
      await turn.messages(0, system('Be brief.'), asked)
      await turn.messages(1, summary)
      await turn.entries(
        { type: 'compaction', step: 1, messages: [first, last, asked] },
        { type: 'compaction', step: 1, messages: [first, summary, last, asked] },
      )
      await turn.events([1, { type: 'message', message: assistant('Three.') }])
      await turn.close(1, complete(turn.open, 'Three.'))
      assert.deepEqual((await recorder.read.history('session')).slice(0, 4), [first, summary, last, asked])
      await say(recorder, 'turn_d', 'Four.')
      assert.deepEqual(await said(recorder), [
        'user: What does turn_a ask?',
        'user: Notes.',
        'assistant: Two.',
        'user: And now?',
        'assistant: Three.',
        'user: What does turn_d ask?',
        'assistant: Four.',
      ])
      assert.equal((await recorder.read.turn('turn_b'))?.messages.length, 2)
      assert.equal((await recorder.read.turn('turn_c'))?.messages.length, 4)
    })

    test('leaves out the question of a turn without an answer', async (recorder) => {
      await say(recorder, 'turn_a', 'One.')
      const [first] = await recorder.read.history('session')
      assert.ok(first !== undefined)
      const turn = await begin(recorder, 'turn_b')
      await turn.messages(0, asked)
      await turn.messages(1, summary)
      await turn.entries({ type: 'compaction', step: 1, messages: [first, summary, asked] })
      await turn.close(1, CANCELLED)
      assert.deepEqual(await said(recorder), ['user: What does turn_a ask?', 'user: Notes.'])
    })
  })
}

/** Returns the history of the session that all of these tests use. */
async function said(recorder: Recorder): Promise<string[]> {
  const history = await recorder.read.history('session')
  return history.map(({ role, content }) => `${role}: ${content}`)
}

function resultFor(id: string): EventBody {
  return { type: 'tool_result', result: { id, name: 'search', content: 'It.', isError: false, durationMs: 3 } }
}

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
