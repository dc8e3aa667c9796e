/** Tests that all stored data of a turn is read back. */

import assert from 'node:assert/strict'
import type { EventBody, QueryEvent } from '../../core/event.ts'
import { assistant, fromParts, retrieved, system, toolResult, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { Recorder } from '../../core/recorder.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, entriesOf } from '../turns.ts'
import { begin, call, CANCELLED, chunk, complete, delta, listed, rejects, say, START } from './bench.ts'
import type { Suite } from './bench.ts'

export function turnTests({ describe, test }: Suite): void {
  describe('a turn', () => {
    test('REC-LOG-001 is read back in full', async (recorder, bench) => {
      const turn = await begin(recorder, 'turn_a', { temperature: 0.7 })
      const { open } = turn
      const composed = [system('Be brief.'), user('What is a cria?')]
      const answer = assistant('A young llama.')
      const usage = { ...EXACT_USAGE, cacheWriteTokens: 30, cacheWrite1hTokens: 20 }
      const bot = { kind: 'QueryBot', name: 'librarian' }
      await turn.messages(0, ...composed)
      const events = await turn.events(
        [0, { type: 'start', model: 'test/model', bot }],
        [1, delta('A young ')],
        [1, delta('llama.')],
        [1, { type: 'usage', usage }],
        [1, { type: 'message', message: answer }],
      )
      const end = { model: 'test/other', text: 'A young llama.', usage, costUsd: 0.001 }
      const close = await turn.close(1, complete(open, 'A young llama.'), end)

      assert.deepEqual(await bench.turn('turn_a'), {
        turn: {
          turnId: 'turn_a',
          sessionId: 'session',
          status: 'done',
          bot,
          model: 'test/other',
          question: 'What does turn_a ask?',
          startedAt: STARTED_AT,
          latencyMs: 50,
          usage,
          costUsd: 0.001,
          rating: null,
          text: 'A young llama.',
          temperature: 0.7,
          promptHash: open.promptHash,
          ratingComment: null,
          userId: null,
          tags: [],
          parentTurnId: null,
          traceId: open.traceId,
          spanId: open.spanId,
          endedAt: close.endedAt,
          finishReason: 'stop',
          error: null,
          metrics: close.metrics,
        },
        messages: [...composed, answer],
        events: [...events, close.event],
        spans: [],
        prompts: [{ name: 'librarian', hash: open.promptHash, version: 1 }],
        nested: [],
      })
    })

    test('can be read as soon as it is opened, with the entries recorded so far', async (writer, bench) => {
      const reader = await bench.open()
      const turn = await begin(writer, 'turn_a')
      assert.equal((await bench.turn('turn_a', reader)).turn.status, 'open')
      const events = await turn.events([0, START], [1, delta('A')])
      assert.deepEqual((await bench.turn('turn_a', reader)).events, events)
      assert.deepEqual(await listed(reader, { status: 'open' }), ['turn_a'])
    })

    for (const [state, body] of [
      ['cancelled', CANCELLED],
      ['failed', { type: 'error', error: { code: 'network', message: 'No route to host.', retryable: true } }],
    ] as const) {
      test(`REC-LOG-001 keeps its partial text when it was ${state}`, async (recorder, bench) => {
        const turn = await begin(recorder, 'turn_a')
        const written = await turn.events([0, START])
        const end = await turn.close(1, body, { text: 'A beginn' })
        const { turn: row, events } = await bench.turn('turn_a')
        assert.deepEqual([row.status, row.text, row.finishReason], [state, 'A beginn', null])
        assert.deepEqual(row.error, body.type === 'error' ? body.error : null)
        assert.deepEqual(events, [...written, end.event])
      })
    }

    test('follows the last ended turn of its session', async (recorder, bench) => {
      await say(recorder, 'turn_a', 'One.')
      await say(recorder, 'turn_b', 'Two.')
      await say(recorder, 'turn_c', 'Elsewhere.', { sessionId: 'other' })
      assert.equal((await bench.turn('turn_b')).turn.parentTurnId, 'turn_a')
      assert.equal((await bench.turn('turn_c')).turn.parentTurnId, null)
    })

    test('does not exist when it was never opened', async (recorder) => {
      assert.equal(await recorder.read.turn('turn_none'), undefined)
      assert.deepEqual(await recorder.read.events('turn_none'), [])
      assert.deepEqual(await recorder.read.history('none'), [])
      await rejects('internal', async () => recorder.record('turn_none', []))
    })
  })

  describe('events', () => {
    test('continue after the last event of a reader', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      const first = await turn.events([0, START], ...deltas(40))
      const second: QueryEvent[] = []
      for (const one of deltas(100)) second.push(...(await turn.events(one)))
      const check = async (all: readonly unknown[]): Promise<void> => {
        assert.deepEqual(await recorder.read.events('turn_a'), all)
        for (const after of [-1, 0, 17, 40, 41, 90, all.length - 2, all.length - 1, all.length + 5]) {
          assert.deepEqual(await recorder.read.events('turn_a', after), all.slice(after + 1))
        }
      }
      await check([...first, ...second])
      // Closing may change the storage of events, but not the events read.
      const { event } = await turn.close(1, CANCELLED)
      await check([...first, ...second, event])
    })

    test('with unexpected numbers are refused with their whole batch', async (recorder, bench) => {
      const turn = await begin(recorder, 'turn_a')
      const start = turn.at(0, START)
      const text = { type: 'messages', step: 0, messages: [user('Hello')] } as const
      for (const wrong of [
        [{ ...start, seq: 1 }],
        [{ ...start, turnId: 'turn_b' }],
        [{ ...start, sessionId: 'other' }],
        [start, start],
      ])
        await rejects('internal', () => turn.entries(text, ...entriesOf(wrong)))
      assert.deepEqual((await bench.turn('turn_a')).messages, [])
      await turn.entries(...entriesOf([start]))
      assert.deepEqual((await bench.turn('turn_a')).events, [start])
    })

    test('that end a turn are accepted only by closeTurn, with the matching state', async (recorder) => {
      const turn = await begin(recorder, 'turn_a')
      const end = turn.at(0, CANCELLED)
      await rejects('internal', () => turn.entries(...entriesOf([end])))
      await rejects('internal', async () => recorder.closeTurn('turn_a', closeOf(end, { state: 'done' })))
      await recorder.closeTurn('turn_a', closeOf(end))
      await rejects('internal', async () => recorder.closeTurn('turn_a', closeOf({ ...end, seq: 1 })))
      assert.deepEqual(await recorder.read.events('turn_a'), [end])
    })
  })

  describe('messages', () => {
    test('of every kind are read back equal', async (recorder, bench) => {
      const messages = everyKindOfMessage()
      const turn = await begin(recorder, 'turn_a')
      await turn.messages(0, ...messages)
      await turn.messages(1, messages[0] as Message)
      assert.deepEqual((await bench.turn('turn_a')).messages, [...messages, messages[0]])
    })

    test('of events are stored in the turn once', async (recorder, bench) => {
      const turn = await begin(recorder, 'turn_a')
      const [asked, answer] = [user('Hello'), assistant('Hi.')]
      const event = turn.at(1, { type: 'message', message: answer })
      await turn.entries({ type: 'messages', step: 0, messages: [asked] }, ...entriesOf([event]))
      await turn.messages(1, answer)
      const detail = await bench.turn('turn_a')
      assert.deepEqual([detail.messages, detail.events], [[asked, answer], [event]])
    })

    test('with equal content keep their own ids', async (recorder, bench) => {
      const [first, second] = [user('Again?'), user('Again?')]
      await say(recorder, 'turn_a', 'Yes.', {}, [first])
      await say(recorder, 'turn_b', 'Yes.', {}, [second])
      assert.deepEqual((await bench.turn('turn_a')).messages[0], first)
      assert.deepEqual((await bench.turn('turn_b')).messages[0], second)
    })
  })

  describe('text', () => {
    const kept = {
      NUL: 'before\0after',
      'right-to-left text': 'שלום עולם \u202Eabc\u202C',
      emoji: '👩‍👩‍👧‍👦 🇨🇭 e\u0301',
      quotes: `it's "quoted"; DROP TABLE turns; -- \\ud800`,
      'a megabyte': 'ä'.repeat(1_000_000),
      nothing: '',
    }
    for (const [kind, text] of Object.entries(kept)) {
      test(`is kept: ${kind}`, async (recorder) => {
        assert.deepEqual(await throughTheJournal(recorder, text), [text, text, text, text, text])
      })
    }
    test('that is not valid Unicode is made well-formed', async (recorder) => {
      const read = await throughTheJournal(recorder, 'a\uD800b\uDC00c\uD83D\uDE00')
      assert.deepEqual(new Set(read), new Set(['a\uFFFDb\uFFFDc\uD83D\uDE00']))
    })
  })
}

/** Writes a text to every member that may hold text, and returns the values read back. */
async function throughTheJournal(recorder: Recorder, text: string): Promise<unknown[]> {
  const turn = await begin(recorder, 'turn_a', { question: text })
  const message = fromParts('assistant', [{ type: 'text', text, providerData: { [text]: text } }])
  await turn.events([1, delta(text)], [1, { type: 'message', message }])
  await turn.close(1, complete(turn.open, text), { text })
  const detail = await recorder.read.turn('turn_a')
  assert.ok(detail !== undefined)
  const { turn: row, messages, events } = detail
  const [part] = messages[0]?.parts ?? []
  const data = part?.type === 'text' ? Object.entries(part.providerData ?? {})[0] : undefined
  const [first] = events
  return [row.question, row.text, first?.type === 'text_delta' ? first.text : undefined, ...(data ?? [])]
}

function everyKindOfMessage(): Message[] {
  return [
    system('Be brief.'),
    fromParts('developer', [], { pinned: true }),
    user([
      { type: 'text', text: 'Look:' },
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', filename: 'a.pdf' },
    ]),
    retrieved({ marker: '1', origin: 'docstore', store: 'default', chunk: chunk('A passage.') }),
    {
      ...retrieved({ marker: '2', origin: 'memory', store: 'talk', chunk: chunk('Said.') }),
      role: 'user',
      content: '<<< Said. >>>',
    },
    assistant([
      { type: 'thinking', text: 'Hm.', model: 'test/model', providerData: { test: { signature: 'c2ln' } } },
      { type: 'text', text: 'I will ', providerData: { test: { zeta: 1, alpha: [1, { b: null }] } } },
      { type: 'text', text: 'search.' },
      { type: 'opaque', kind: 'server-tool', providerData: { test: { raw: true } } },
      call('call_1'),
      { type: 'tool-call', id: 'call_2', name: 'search', input: '{"q":', invalid: 'Unexpected end of JSON input' },
    ]),
    toolResult({
      id: 'call_1',
      name: 'search',
      content: 'Found.',
      attachments: [{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }],
    }),
    toolResult({ id: 'call_2', name: 'search', content: '', isError: true }),
    assistant('Found it.'),
  ]
}

function deltas(count: number): (readonly [step: number, body: EventBody])[] {
  return Array.from({ length: count }, (_, n) =>
    n % 7 === 0
      ? [1, { type: 'thinking', content: `thought ${n}`, attempt: 1 }]
      : [n < 60 ? 1 : 2, delta(`word ${n} `, n % 20 === 1 ? 2 : 1)],
  )
}
