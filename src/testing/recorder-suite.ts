/**
 * What every journal has to do, whatever it is kept in. Run it on your own:
 *
 *     import { describe, it } from 'vitest'        // or node:test, or any other with these two
 *     recorderSuite('my journal', async () => ({ open: (options) => openMine(options), remove: () => {} }), { describe, it })
 */

import assert from 'node:assert/strict'
import { isCriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { EventBody, QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { assistant, fromParts, retrieved, system, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { JournalKeeper, Recorder, TurnClose, TurnDetail, TurnOpen } from '../core/recorder.ts'
import type { SpanRecord } from '../core/span.ts'
import type { ScoredChunk } from '../core/store.ts'
import { closeOf, entriesOf, EXACT_USAGE, openOf, resultOf, stamper, STARTED_AT } from './turns.ts'

export interface OpenOptions {
  /** The recorder's only source of time. */
  readonly clock: { now(): number }
  readonly leaseMs: number
}

/** One empty journal. */
export interface JournalUnderTest {
  /** Opens a further recorder on it, which holds turns of its own. */
  open(options: OpenOptions): MaybePromise<Recorder & JournalKeeper>
  /** Called after every recorder has been closed. */
  remove(): MaybePromise<void>
}

export interface Runner {
  readonly describe: (name: string, define: () => void) => void
  readonly it: (name: string, run: () => Promise<void>) => void
}

const LEASE_MS = 30_000

export function recorderSuite(name: string, create: () => MaybePromise<JournalUnderTest>, { describe, it }: Runner): void {
  /** A test with a journal of its own; all recorders share one clock. */
  const test = (title: string, run: (journal: Bench) => Promise<void>): void => {
    it(title, async () => {
      const journal = await create()
      const bench = new Bench(journal)
      try {
        await run(bench)
      } finally {
        for (const recorder of bench.recorders) await recorder.close()
        await journal.remove()
      }
    })
  }

  describe(name, () => {
    describe('a turn', () => {
      test('REC-LOG-001 is read back with everything that was written', async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a', { temperature: 0.7 })
        const at = stamper(open)
        const composed = [system('Be brief.'), user('What is a cria?')]
        const answer = assistant('A young llama.')
        const events = [
          at(0, { type: 'start', model: 'test/model', bot: { kind: 'QueryBot', name: 'librarian' } }),
          at(1, { type: 'text_delta', text: 'A young ', attempt: 1 }),
          at(1, { type: 'text_delta', text: 'llama.', attempt: 1 }),
          at(1, { type: 'usage', usage: EXACT_USAGE }),
          at(1, { type: 'message', message: answer }),
        ]
        const close = closeOf(at(1, { type: 'complete', result: resultOf(open, 'A young llama.') }), {
          model: 'test/other',
          text: 'A young llama.',
          usage: EXACT_USAGE,
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
            usage: EXACT_USAGE,
            costUsd: 0.001,
            rating: null,
            text: 'A young llama.',
            temperature: 0.7,
            promptHash: open.promptHash,
            ratingComment: null,
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

    describe('a session', () => {
      test('has one exclusive turn at a time', async (bench) => {
        const [one, other] = [await bench.open(), await bench.open()]
        await one.openTurn(openOf('turn_a'))
        await rejects('session_busy', async () => one.openTurn(openOf('turn_b')))
        await rejects('session_busy', async () => other.openTurn(openOf('turn_b')))
        assert.equal(await other.read.turn('turn_b'), undefined)
        await other.openTurn(openOf('turn_c', { sessionId: 'other' }))
        await one.closeTurn('turn_a', closeOf(stamper(openOf('turn_a'))(0, { type: 'cancelled', reason: 'Enough.' })))
        await other.openTurn(openOf('turn_b'))
      })

      test('may have turns beside, which neither wait nor become part of what was said', async (bench) => {
        const recorder = await bench.open()
        await recorder.openTurn(openOf('turn_a'))
        await say(recorder, 'turn_b', 'Beside.', { exclusive: false })
        await recorder.openTurn(openOf('turn_c', { exclusive: false }))
        await recorder.closeTurn('turn_a', closeOf(stamper(openOf('turn_a'))(0, { type: 'cancelled', reason: 'Enough.' })))
        await say(recorder, 'turn_d', 'Four.')
        assert.deepEqual(await said(recorder), ['user: What does turn_d ask?', 'assistant: Four.'])
      })
    })

    describe('a history', () => {
      test('is what was said, oldest first, without system prompts and retrieved text', async (bench) => {
        const recorder = await bench.open()
        const passage = retrieved({ marker: '1', origin: 'docstore', store: 'default', chunk: chunk('Some passage.') })
        const fenced = { ...passage, role: 'user' as const, content: '<<< Some passage. >>>' }
        await say(recorder, 'turn_a', 'One.', {}, [system('Be brief.'), passage, fenced, user('First?')])
        await say(recorder, 'turn_b', 'Two.')
        await say(recorder, 'turn_x', 'Elsewhere.', { sessionId: 'other' })
        assert.deepEqual(await said(recorder), [
          'user: First?',
          'assistant: One.',
          'user: What does turn_b ask?',
          'assistant: Two.',
        ])
      })

      test('gives messages back as they were, with their ids', async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a')
        const at = stamper(open)
        const [asked, called, answer] = [user('Look it up.'), assistant([call('call_1')]), assistant('Found.')]
        const result = toolResult({ id: 'call_1', name: 'search', content: 'It.' })
        await recorder.openTurn(open)
        await recorder.record('turn_a', [
          { type: 'messages', step: 0, messages: [asked] },
          ...entriesOf([at(1, { type: 'message', message: called }), at(1, requestOf('call_1')), at(1, resultFor('call_1'))]),
          { type: 'messages', step: 1, messages: [result] },
          ...entriesOf([at(2, { type: 'message', message: answer })]),
        ])
        await recorder.closeTurn('turn_a', closeOf(at(2, { type: 'complete', result: resultOf(open, 'Found.') })))
        assert.deepEqual(await recorder.read.history('session'), [asked, called, result, answer])
      })

      test('has the beginning of an answer that was cancelled', async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a')
        const at = stamper(open)
        await recorder.openTurn(open)
        await recorder.record('turn_a', [
          { type: 'messages', step: 0, messages: [user('Tell me.')] },
          ...entriesOf([
            at(1, { type: 'thinking', content: 'Hm.', attempt: 1 }),
            at(1, { type: 'text_delta', text: 'Void', attempt: 1 }),
            at(1, { type: 'reset', attempt: 1 }),
            at(1, { type: 'text_delta', text: 'Once upon', attempt: 2 }),
          ]),
        ])
        await recorder.closeTurn('turn_a', closeOf(at(1, { type: 'cancelled', reason: 'Enough.' }), { text: 'Once upon' }))
        assert.deepEqual(await said(recorder), ['user: Tell me.', 'assistant: Once upon'])
        const again = await recorder.read.history('session')
        assert.deepEqual(again, await recorder.read.history('session'))
      })

      test('leaves out a question that nothing was answered to', async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a')
        await say(recorder, 'turn_0', 'Zero.')
        await recorder.openTurn(open)
        await recorder.record('turn_a', [{ type: 'messages', step: 0, messages: [user('Anybody there?')] }])
        await recorder.closeTurn('turn_a', closeOf(stamper(open)(1, { type: 'cancelled', reason: 'Enough.' })))
        await say(recorder, 'turn_b', 'Two.')
        assert.deepEqual(await said(recorder), [
          'user: What does turn_0 ask?',
          'assistant: Zero.',
          'user: What does turn_b ask?',
          'assistant: Two.',
        ])
      })

      test('answers every call of a turn that failed in between, in the order of the calls', async (bench) => {
        const recorder = await bench.open()
        const open = openOf('turn_a')
        const at = stamper(open)
        const called = assistant([call('call_1'), call('call_2'), call('call_3')])
        await recorder.openTurn(open)
        await recorder.record('turn_a', [
          { type: 'messages', step: 0, messages: [user('Do it.')] },
          ...entriesOf([
            at(1, { type: 'message', message: called }),
            at(1, requestOf('call_1')),
            at(1, requestOf('call_2')),
            at(1, resultFor('call_2')),
          ]),
        ])
        const failure = { code: 'network', message: 'No route to host.', retryable: true } as const
        await recorder.closeTurn('turn_a', closeOf(at(1, { type: 'error', error: failure })))
        const history = await recorder.read.history('session')
        const results = history.slice(2).flatMap(({ parts }) => parts)
        assert.deepEqual(
          results.map((part) => (part.type === 'tool-result' ? [part.id, part.isError] : part)),
          [
            ['call_1', true],
            ['call_2', false],
            ['call_3', true],
          ],
        )
      })
    })

    describe('a history that was compacted', () => {
      const summary = fromParts('user', [{ type: 'text', text: 'Notes.' }], { summary: true })
      const asked = user('And now?')

      test('begins with what it was compacted to, and the turns keep all that they had', async (bench) => {
        const recorder = await bench.open()
        await say(recorder, 'turn_a', 'One.')
        await say(recorder, 'turn_b', 'Two.')
        const [first, , , last] = await recorder.read.history('session')
        assert.ok(first !== undefined && last !== undefined)
        const open = openOf('turn_c')
        const at = stamper(open)
        await recorder.openTurn(open)
        await recorder.record('turn_c', [
          { type: 'messages', step: 0, messages: [system('Be brief.'), asked] },
          { type: 'messages', step: 1, messages: [summary] },
          { type: 'compaction', step: 1, messages: [first, last, asked] },
          { type: 'compaction', step: 1, messages: [first, summary, last, asked] },
          ...entriesOf([at(1, { type: 'message', message: assistant('Three.') })]),
        ])
        await recorder.closeTurn('turn_c', closeOf(at(1, { type: 'complete', result: resultOf(open, 'Three.') })))
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

      test('is without the question of a turn that got no answer', async (bench) => {
        const recorder = await bench.open()
        await say(recorder, 'turn_a', 'One.')
        const [first] = await recorder.read.history('session')
        assert.ok(first !== undefined)
        const open = openOf('turn_b')
        await recorder.openTurn(open)
        await recorder.record('turn_b', [
          { type: 'messages', step: 0, messages: [asked] },
          { type: 'messages', step: 1, messages: [summary] },
          { type: 'compaction', step: 1, messages: [first, summary, asked] },
        ])
        await recorder.closeTurn('turn_b', closeOf(stamper(open)(1, { type: 'cancelled', reason: 'Enough.' })))
        assert.deepEqual(await said(recorder), ['user: What does turn_a ask?', 'user: Notes.'])
      })
    })

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
        const written = [
          at(0, { type: 'start', model: 'm' }),
          at(1, { type: 'text_delta', text: 'Let me look.', attempt: 1 }),
          at(1, { type: 'usage', usage: EXACT_USAGE }),
          at(1, {
            type: 'message',
            message: assistant([{ type: 'text', text: 'Let me look.' }, call('call_1'), call('call_2')]),
          }),
          at(1, requestOf('call_1')),
          at(1, requestOf('call_2')),
        ]
        await owner.openTurn(open)
        await owner.record('turn_a', [
          { type: 'messages', step: 0, messages: [user('Find it.')] },
          ...entriesOf(written),
          { type: 'tool_start', step: 1, callId: 'call_1', name: 'search', input: '{}', idempotencyKey: 'key', at: STARTED_AT },
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

    describe('lists', () => {
      test('are newest first, and go on where they stopped', async (bench) => {
        const recorder = await bench.open()
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
          // What is written meanwhile does not move what is read.
          await say(recorder, `turn_new_${pages}`, 'Yes.')
        }
        assert.equal(pages, 3)
        assert.deepEqual(seen, ids.toReversed())
      })

      test('refuse a cursor or a limit that is none', async (bench) => {
        const recorder = await bench.open()
        for (const cursor of ['x', '', '-1', `1 OR 1=1`])
          await rejects('configuration', async () => recorder.read.turns({ cursor }))
        for (const limit of [0, -1, 1.5, Number.NaN]) await rejects('configuration', async () => recorder.read.turns({ limit }))
      })

      test('are narrowed by state, model and session', async (bench) => {
        const recorder = await bench.open()
        await say(recorder, 'turn_a', 'One.')
        await say(recorder, 'turn_b', 'Two.', { sessionId: 'other' })
        await recorder.openTurn(openOf('turn_c', { model: 'test/third' }))
        const found = async (query: object): Promise<string[]> =>
          (await recorder.read.turns(query)).turns.map(({ turnId }) => turnId)
        assert.deepEqual(await found({ status: 'done' }), ['turn_b', 'turn_a'])
        assert.deepEqual(await found({ model: 'test/third' }), ['turn_c'])
        assert.deepEqual(await found({ sessionId: 'session' }), ['turn_c', 'turn_a'])
        assert.deepEqual(await found({ sessionId: 'session', status: 'open', model: 'test/model' }), [])
      })

      test('find the words of questions and answers', async (bench) => {
        const recorder = await bench.open()
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
        for (const [search, expected] of cases) {
          const { turns } = await recorder.read.turns({ search })
          assert.deepEqual(
            turns.map(({ turnId }) => turnId),
            expected,
            search,
          )
        }
      })

      test('take every search literally', async (bench) => {
        const recorder = await bench.open()
        await say(recorder, 'turn_a', 'Nothing special.')
        const hostile = [
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
        const searches = [
          ...hostile,
          '',
          '   ',
          '\0',
          'a\0b',
          '\uD800',
          '😀',
          ';--',
          '%',
          '\\',
          'word '.repeat(10_000),
          'x'.repeat(100_000),
        ]
        for (const search of searches) {
          const { turns } = await recorder.read.turns({ search })
          assert.deepEqual(turns, [], JSON.stringify(search.slice(0, 40)))
        }
        assert.equal((await recorder.read.turns({ search: '^special "nothing" ;*' })).turns.length, 1)
      })
    })

    describe('beside the turns', () => {
      test('a rating is kept, changed and taken back', async (bench) => {
        const recorder = await bench.open()
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
        for (const wrong of [0, 6, -2, 1.5, Number.NaN])
          await rejects('configuration', async () => recorder.rate('turn_a', wrong))
        await rejects('not_found', async () => recorder.rate('turn_none', 1))
      })

      test('feedback is kept in order', async (bench) => {
        const recorder = await bench.open()
        const base = { first: 'turn_a', second: 'turn_b', question: 'Which?' }
        const given = [
          { ...base, at: 1, choice: 'first' as const },
          { ...base, at: 2, choice: 'none' as const, details: { shown: ['a', 'b'], seed: 7 } },
        ]
        for (const feedback of given) await recorder.feedback(feedback)
        assert.deepEqual(await recorder.read.feedback(), given)
      })

      test('REC-SPAN-001 the spans of a turn, and those around it, are read with it', async (bench) => {
        const recorder = await bench.open()
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
        const inside = span('02', {
          parentSpanId: '01',
          turnId: 'turn_a',
          events: [{ name: 'chunk', at: STARTED_AT, attributes: { n: 1 } }],
        })
        const failed = span('03', {
          parentSpanId: '02',
          turnId: 'turn_a',
          startedAt: STARTED_AT + 2,
          status: 'error',
          error: 'No.',
        })
        await say(recorder, 'turn_a', 'One.', { traceId: around.traceId })
        for (const one of [failed, inside, around]) await recorder.span(one)
        await recorder.span(span('04', { turnId: 'turn_b' }))
        await recorder.span(span('05', { traceId: 'bb'.repeat(16) }))
        assert.deepEqual((await bench.turn('turn_a')).spans, [around, inside, failed])
      })
    })

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
        const one = { sessionId: 'one', startedAt: STARTED_AT, lastTurnAt: STARTED_AT + 2000, turns: 2, costUsd: 0.5 }
        const two = { sessionId: 'two', startedAt: STARTED_AT + 1000, lastTurnAt: STARTED_AT + 1000, turns: 1, costUsd: 0.25 }
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
  })
}

/** A journal, the recorders that are open on it, and their time. */
class Bench {
  readonly recorders: (Recorder & JournalKeeper)[] = []
  readonly clock: { now(): number }
  readonly #journal: JournalUnderTest
  #now = STARTED_AT

  constructor(journal: JournalUnderTest) {
    this.#journal = journal
    this.clock = { now: () => this.#now }
  }

  async open(): Promise<Recorder & JournalKeeper> {
    const recorder = await this.#journal.open({ clock: this.clock, leaseMs: LEASE_MS })
    this.recorders.push(recorder)
    return recorder
  }

  pass(ms: number): void {
    this.#now += ms
  }

  async turn(turnId: string, recorder: Recorder | undefined = this.recorders[0]): Promise<TurnDetail> {
    const detail = await recorder?.read.turn(turnId)
    assert.ok(detail !== undefined, `${turnId} is not in the journal`)
    return detail
  }
}

async function rejects(code: ErrorCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(isCriaError(error), `a CriaError was expected, not ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return true
  })
}

/** Writes a whole turn: a question and its answer. */
async function say(
  recorder: Recorder,
  turnId: string,
  answer: string,
  changes: Partial<TurnOpen> = {},
  composed?: readonly Message[],
  closing: Partial<TurnClose> = {},
): Promise<void> {
  const open = openOf(turnId, changes)
  const at = stamper(open)
  await recorder.openTurn(open)
  await recorder.record(turnId, [
    { type: 'messages', step: 0, messages: composed ?? [user(open.question)] },
    ...entriesOf([
      at(0, { type: 'start', model: open.model }),
      at(1, { type: 'text_delta', text: answer, attempt: 1 }),
      at(1, { type: 'message', message: assistant(answer) }),
    ]),
  ])
  await recorder.closeTurn(
    turnId,
    closeOf(at(1, { type: 'complete', result: resultOf(open, answer) }), { text: answer, ...closing }),
  )
}

/** What was said in the session that all of these tests use. */
async function said(recorder: Recorder): Promise<string[]> {
  const history = await recorder.read.history('session')
  return history.map(({ role, content }) => `${role}: ${content}`)
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

function chunk(text: string): ScoredChunk {
  return {
    id: 'chunk_1',
    text,
    source: 'docs/a.md',
    start: 10,
    end: 10 + text.length,
    title: 'A',
    headings: ['A', 'B'],
    lines: [3, 4],
    metadata: { page: 2 },
    score: 1.25,
    evidence: { coverage: 0.5, weights: { passage: 2.5 } },
  }
}

function deltas(at: ReturnType<typeof stamper>, count: number): QueryEvent[] {
  return Array.from({ length: count }, (_, n) =>
    n % 7 === 0
      ? at(1, { type: 'thinking', content: `thought ${n}`, attempt: 1 })
      : at(n < 60 ? 1 : 2, { type: 'text_delta', text: `word ${n} `, attempt: n % 20 === 1 ? 2 : 1 }),
  )
}

function call(id: string): ToolCallPart {
  return { type: 'tool-call', id, name: 'search', input: { query: 'llama', limit: 3 } }
}

function requestOf(id: string): EventBody {
  return { type: 'tool_request', tool: { id, name: 'search', input: { query: 'llama', limit: 3 } } }
}

function resultFor(id: string): EventBody {
  return { type: 'tool_result', result: { id, name: 'search', content: 'It.', isError: false, durationMs: 3 } }
}
