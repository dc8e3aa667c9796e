/** What is written of a turn is read back. */

import assert from 'node:assert/strict'
import type { QueryEvent } from '../../core/event.ts'
import { assistant, fromParts, retrieved, system, toolResult, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import { EXACT_USAGE, STARTED_AT, closeOf, entriesOf, openOf, resultOf, stamper } from '../turns.ts'
import { call, chunk, rejects, say } from './bench.ts'
import type { Bench, Suite } from './bench.ts'

export function turnTests({ describe, test }: Suite): void {
  describe('a turn', () => {
    test('REC-LOG-001 is read back with everything that was written', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a', { temperature: 0.7 })
      const at = stamper(open)
      const composed = [system('Be brief.'), user('What is a cria?')]
      const answer = assistant('A young llama.')
      const usage = { ...EXACT_USAGE, cacheWriteTokens: 30, cacheWrite1hTokens: 20 }
      const events = [
        at(0, { type: 'start', model: 'test/model', bot: { kind: 'QueryBot', name: 'librarian' } }),
        at(1, { type: 'text_delta', text: 'A young ', attempt: 1 }),
        at(1, { type: 'text_delta', text: 'llama.', attempt: 1 }),
        at(1, { type: 'usage', usage }),
        at(1, { type: 'message', message: answer }),
      ]
      const close = closeOf(at(1, { type: 'complete', result: resultOf(open, 'A young llama.') }), {
        model: 'test/other',
        text: 'A young llama.',
        usage,
        costUsd: 0.001,
      })
      await recorder.openTurn(open)
      await recorder.record('turn_a', [{ type: 'messages', step: 0, messages: composed }, ...entriesOf(events)])
      await recorder.closeTurn('turn_a', close)

      assert.deepEqual(await bench.turn('turn_a'), {
        turn: {
          turnId: 'turn_a',
          sessionId: 'session',
          status: 'done',
          bot: { kind: 'QueryBot', name: 'librarian' },
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

    test('is there as soon as it is opened, with what is recorded so far', async (bench) => {
      const [writer, reader] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a')
      const at = stamper(open)
      await writer.openTurn(open)
      assert.equal((await bench.turn('turn_a', reader)).turn.status, 'open')
      const events = [at(0, { type: 'start', model: 'test/model' }), at(1, { type: 'text_delta', text: 'A', attempt: 1 })]
      await writer.record('turn_a', entriesOf(events))
      assert.deepEqual((await bench.turn('turn_a', reader)).events, events)
      assert.equal((await reader.read.turns({ status: 'open' })).turns.length, 1)
    })

    for (const [state, body] of [
      ['cancelled', { type: 'cancelled', reason: 'Enough.' }],
      ['failed', { type: 'error', error: { code: 'network', message: 'No route to host.', retryable: true } }],
    ] as const) {
      test(`REC-LOG-001 that was ${state} is there too, with the text it had`, async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a')
        const at = stamper(open)
        const start = at(0, { type: 'start', model: 'test/model' })
        const end = at(1, body)
        await recorder.openTurn(open)
        await recorder.record('turn_a', entriesOf([start]))
        await recorder.closeTurn('turn_a', closeOf(end, { text: 'A beginn' }))
        const { turn, events } = await bench.turn('turn_a')
        assert.equal(turn.status, state)
        assert.equal(turn.text, 'A beginn')
        assert.equal(turn.finishReason, null)
        assert.deepEqual(turn.error, body.type === 'error' ? body.error : null)
        assert.deepEqual(events, [start, end])
      })
    }

    test('follows the turn of its session that ended last', async (bench) => {
      const recorder = await bench.open()
      await say(recorder, 'turn_a', 'One.')
      await say(recorder, 'turn_b', 'Two.')
      await say(recorder, 'turn_c', 'Elsewhere.', { sessionId: 'other' })
      assert.equal((await bench.turn('turn_b')).turn.parentTurnId, 'turn_a')
      assert.equal((await bench.turn('turn_c')).turn.parentTurnId, null)
    })

    test('is not there when it was never opened', async (bench) => {
      const recorder = await bench.open()
      assert.equal(await recorder.read.turn('turn_none'), undefined)
      assert.deepEqual(await recorder.read.events('turn_none'), [])
      assert.deepEqual(await recorder.read.history('none'), [])
      await rejects('internal', async () => recorder.record('turn_none', []))
    })
  })

  describe('events', () => {
    test('go on where a reader left off', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a')
      const at = stamper(open)
      const first = [at(0, { type: 'start', model: 'm' }), ...deltas(at, 40)]
      const second = deltas(at, 100)
      await recorder.openTurn(open)
      await recorder.record('turn_a', entriesOf(first))
      for (const event of second) await recorder.record('turn_a', entriesOf([event]))
      const check = async (all: readonly unknown[]): Promise<void> => {
        assert.deepEqual(await recorder.read.events('turn_a'), all)
        for (const after of [-1, 0, 17, 40, 41, 90, all.length - 2, all.length - 1, all.length + 5]) {
          assert.deepEqual(await recorder.read.events('turn_a', after), all.slice(after + 1))
        }
      }
      await check([...first, ...second])
      // Closing may change how they are kept, but not what is read.
      const last = at(1, { type: 'cancelled', reason: 'Enough.' })
      await recorder.closeTurn('turn_a', closeOf(last))
      await check([...first, ...second, last])
    })

    test('that are not the next of their turn are refused, and nothing of their batch is kept', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a')
      const start = stamper(open)(0, { type: 'start', model: 'm' })
      await recorder.openTurn(open)
      const text = { type: 'messages', step: 0, messages: [user('Hello')] } as const
      for (const wrong of [
        { ...start, seq: 1 },
        { ...start, turnId: 'turn_b' },
        { ...start, sessionId: 'other' },
      ]) {
        await rejects('internal', async () => recorder.record('turn_a', [text, ...entriesOf([wrong])]))
      }
      await rejects('internal', async () => recorder.record('turn_a', [text, ...entriesOf([start, start])]))
      assert.deepEqual((await bench.turn('turn_a')).messages, [])
      await recorder.record('turn_a', entriesOf([start]))
      assert.deepEqual((await bench.turn('turn_a')).events, [start])
    })

    test('that end a turn belong to its closing, and to its state', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a')
      const end = stamper(open)(0, { type: 'cancelled', reason: 'Enough.' })
      await recorder.openTurn(open)
      await rejects('internal', async () => recorder.record('turn_a', entriesOf([end])))
      await rejects('internal', async () => recorder.closeTurn('turn_a', closeOf(end, { state: 'done' })))
      await recorder.closeTurn('turn_a', closeOf(end))
      await rejects('internal', async () => recorder.closeTurn('turn_a', closeOf({ ...end, seq: 1 })))
      assert.deepEqual(await recorder.read.events('turn_a'), [end])
    })
  })

  describe('messages', () => {
    test('of every kind are read back equal', async (bench) => {
      const recorder = await bench.open()
      const messages = everyKindOfMessage()
      await recorder.openTurn(openOf('turn_a'))
      await recorder.record('turn_a', [{ type: 'messages', step: 0, messages }])
      await recorder.record('turn_a', [{ type: 'messages', step: 1, messages: [messages[0] as Message] }])
      assert.deepEqual((await bench.turn('turn_a')).messages, [...messages, messages[0]])
    })

    test('of an event are messages of the turn, once', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a')
      const at = stamper(open)
      const [asked, answer] = [user('Hello'), assistant('Hi.')]
      const event = at(1, { type: 'message', message: answer })
      await recorder.openTurn(open)
      await recorder.record('turn_a', [{ type: 'messages', step: 0, messages: [asked] }, ...entriesOf([event])])
      await recorder.record('turn_a', [{ type: 'messages', step: 1, messages: [answer] }])
      const detail = await bench.turn('turn_a')
      assert.deepEqual(detail.messages, [asked, answer])
      assert.deepEqual(detail.events, [event])
    })

    test('keep their own ids where their content is the same', async (bench) => {
      const recorder = await bench.open()
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
      test(`is kept: ${kind}`, async (bench) => {
        assert.deepEqual(await throughTheJournal(bench, text), [text, text, text, text, text])
      })
    }
    test('that is no Unicode is made well-formed', async (bench) => {
      const text = 'a\uD800b\uDC00c\uD83D\uDE00'
      const read = await throughTheJournal(bench, text)
      assert.deepEqual(new Set(read), new Set(['a\uFFFDb\uFFFDc\uD83D\uDE00']))
    })
  })
}

/** Writes a text wherever a text may stand, and returns what is read back from there. */
async function throughTheJournal(bench: Bench, text: string): Promise<unknown[]> {
  const recorder = await bench.open()
  const open = openOf('turn_a', { question: text })
  const at = stamper(open)
  const message = fromParts('assistant', [{ type: 'text', text, providerData: { [text]: text } }])
  await recorder.openTurn(open)
  await recorder.record(
    'turn_a',
    entriesOf([at(1, { type: 'text_delta', text, attempt: 1 }), at(1, { type: 'message', message })]),
  )
  await recorder.closeTurn('turn_a', closeOf(at(1, { type: 'complete', result: resultOf(open, text) }), { text }))
  const { turn, messages, events } = await bench.turn('turn_a')
  const [part] = messages[0]?.parts ?? []
  const data = part?.type === 'text' ? Object.entries(part.providerData ?? {})[0] : undefined
  const [delta] = events
  return [turn.question, turn.text, delta?.type === 'text_delta' ? delta.text : undefined, ...(data ?? [])]
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

function deltas(at: ReturnType<typeof stamper>, count: number): QueryEvent[] {
  return Array.from({ length: count }, (_, n) =>
    n % 7 === 0
      ? at(1, { type: 'thinking', content: `thought ${n}`, attempt: 1 })
      : at(n < 60 ? 1 : 2, { type: 'text_delta', text: `word ${n} `, attempt: n % 20 === 1 ? 2 : 1 }),
  )
}
