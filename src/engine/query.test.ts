import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tool } from '../../test/calls.ts'
import { rolesAndContents, shownText } from '../../test/support/shown.ts'
import type { Clock } from '../core/clock.ts'
import { CriaError } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { assistant } from '../core/message.ts'
import { UNKNOWN_FACTS } from '../core/model.ts'
import type { LanguageModel } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { query } from './query.ts'
import type { EngineOptions } from './options.ts'

const calm: Partial<EngineOptions> = { retry: { initialDelay: 0 } }

async function collect(options: EngineOptions): Promise<QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of query({ ...calm, ...options })) events.push(event)
  return events
}

const TOOL_STEP = ['usage', 'message', 'tool_request', 'tool_result']
const LAST_STEP = ['text_delta', 'usage', 'message', 'complete']
const types = (events: readonly QueryEvent[]): string[] => events.map((event) => event.type)

describe('query()', () => {
  it('ENG-QUERY-001 walks a question through prepare, model and finish', async () => {
    const model = new ScriptedModel([{ text: ['Hel', 'lo'], usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } }])
    const events = await collect({ model, prompt: 'Hi', system: 'Be brief.' })
    expect(types(events)).toEqual(['start', 'text_delta', 'usage', 'message', 'complete'])
    expect(events.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4])
    expect(rolesAndContents(model.requests[0]?.messages)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hi'],
    ])
    const { text, message, result } = foldEvents(events)
    expect(text).toBe('Hello')
    expect(message?.content).toBe('Hello')
    expect(result).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      steps: 1,
      model: 'scripted/model',
      usage: { totalTokens: 5 },
    })
  })

  it('ENG-QUERY-001 runs tools and repeats until the model stops', async () => {
    const model = new ScriptedModel([{ text: 'Looking.', toolCalls: [{ id: 'a', name: 'look', input: { at: 'x' } }] }, 'Done.'])
    const look = tool('look', ({ at }) => `saw ${String(at)}`)
    const events = await collect({ model, prompt: 'Go', tools: [look] })
    expect(types(events)).toEqual(['start', 'text_delta', ...TOOL_STEP, ...LAST_STEP])
    expect(events.map((event) => event.step)).toEqual([0, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    expect(rolesAndContents(model.requests[1]?.messages)).toEqual([
      ['user', 'Go'],
      ['assistant', 'Looking.'],
      ['tool', 'saw x'],
    ])
    expect(foldEvents(events)).toMatchObject({ text: 'Done.', toolResults: [{ id: 'a', content: 'saw x', isError: false }] })
  })

  it('ENG-QUERY-001 does not recurse: a thousand steps use no more stack than one', async () => {
    const model = new ScriptedModel((_, call) =>
      call < 999 ? { toolCalls: [{ id: `c${call}`, name: 'echo', input: { n: call } }] } : 'Done.',
    )
    const echo = tool('echo', () => 'ok', { isReadOnly: true })
    const events = await collect({ model, prompt: 'Go', tools: [echo], maxSteps: 1000 })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { steps: 1000, text: 'Done.' } })
    expect(model.requests.at(-1)?.messages).toHaveLength(1 + 2 * 999)
  })

  it('CORE-SIMPLE-021 runs a call written as text, and does not show the text', async () => {
    const look = tool('look', () => 'seen')
    const model = new ScriptedModel([{ text: ['{"name":"lo', 'ok","arguments":{}}'] }, { text: ['{"name":', '"Alice"}'] }])
    const events = await collect({ model, prompt: 'Go', tools: [look] })
    expect(types(events)).toEqual(['start', ...TOOL_STEP, ...LAST_STEP])
    expect(foldEvents(events).text).toBe('{"name":"Alice"}')
  })

  it('ENG-QUERY-002 mistakes in the options are thrown at once', () => {
    const model = new ScriptedModel([])
    expect(() => query({ model, prompt: ' ' })).toThrow(/question is empty/)
    expect(() => query({ model })).toThrow(/`prompt`/)
    expect(() => query({ model, messages: ['a', assistant('b')] })).toThrow(/question is empty/)
    expect(() => query({ model, messages: ['a'], sessionId: 's' })).toThrow(/exclude each other/)
    expect(() => query({ model, prompt: 'a', maxSteps: 0 })).toThrow(/maxSteps/)
    expect(() =>
      query({ model, prompt: 'a', tools: [{ name: 'a b', description: '', inputSchema: {}, call: () => '' }] }),
    ).toThrow(/letters/)
    expect(model.requests).toHaveLength(0)
  })

  it('ENG-ERR-001 abort yields cancelled and leaves nothing running', async () => {
    const model = new ScriptedModel([{ text: ['one', 'two'], hang: { after: 1 } }])
    const controller = new AbortController()
    const events: QueryEvent[] = []
    for await (const event of query({ ...calm, model, prompt: 'Hi', abortSignal: controller.signal })) {
      events.push(event)
      if (event.type === 'text_delta') controller.abort()
    }
    expect(types(events)).toEqual(['start', 'text_delta', 'cancelled'])
    expect(model.open).toBe(0)
  })

  it('ENG-ERR-004 an error without recovery ends the turn with one typed error event', async () => {
    const model = new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No key.', { status: 401 }) } }])
    const events = await collect({ model, prompt: 'Hi' })
    expect(types(events)).toEqual(['start', 'error'])
    expect(events[1]).toMatchObject({ error: { code: 'auth', message: 'No key.', retryable: false, status: 401 } })
    expect(model.requests).toHaveLength(1)
  })

  it('ENG-ERR-001 a model that reports an abort which did not happen has failed', async () => {
    const model = new ScriptedModel([{ fail: { after: 0, error: new CriaError('aborted', 'The connection was aborted.') } }])
    const events = await collect({ model, prompt: 'Hi', abortSignal: new AbortController().signal })
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'aborted', message: 'The connection was aborted.' } })
  })

  it('ENG-ERR-004 removes keys from errors that a supplied model throws', async () => {
    const model: LanguageModel = {
      ref: 'mine/model',
      facts: UNKNOWN_FACTS,
      async *stream() {
        throw new Error('401: the key sk-abcdefgh12345678 is wrong')
      },
    }
    const events = await Array.fromAsync(query({ model, prompt: 'Hi' }))
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'internal', message: '401: the key sk-[redacted] is wrong' },
    })
  })

  it('ENG-ERR-005 takes back and retries a stream that breaks after text', async () => {
    const broken = new CriaError('stream_interrupted', 'Broke off.')
    const model = new ScriptedModel([{ text: ['Wro', 'ng'], fail: { after: 1, error: broken } }, 'Right.'])
    const events = await collect({ model, prompt: 'Hi' })
    expect(types(events)).toEqual(['start', 'text_delta', 'retry', 'reset', 'text_delta', 'usage', 'message', 'complete'])
    expect(foldEvents(events).text).toBe('Right.')
  })

  it('ENG-ERR-005 an error holds the text that was shown, without text that was taken back', async () => {
    const broken = new CriaError('stream_interrupted', 'Broke off.', { details: { host: 'a.example' } })
    const half = { text: ['Hal', 'f'], fail: { after: 2, error: broken } }
    const kept = await collect({ model: new ScriptedModel([half]), prompt: 'Hi', retry: { afterOutput: 'error' } })
    expect(kept.at(-1)).toMatchObject({ type: 'error', error: { details: { host: 'a.example', text: 'Half' } } })
    const silent = { fail: { after: 0, error: broken } }
    const none = await collect({ model: new ScriptedModel([half, silent]), prompt: 'Hi', retry: { maxRetries: 1 } })
    expect(none.at(-1)).toMatchObject({ type: 'error', error: { details: { host: 'a.example' } } })
    expect(JSON.stringify(none.at(-1))).not.toContain('Half')
  })

  it('ENG-ERR-002 falls back to the next model, visibly', async () => {
    const overloaded = { fail: { after: 0, error: new CriaError('overloaded', 'Busy.', { status: 529 }) } }
    const first = new ScriptedModel([overloaded, overloaded, overloaded], { ref: 'a/one' })
    const second = new ScriptedModel(['Here.'], { ref: 'b/two' })
    const events = await collect({ model: first, fallbackModels: [second], prompt: 'Hi' })
    expect(types(events)).toEqual(['start', 'retry', 'retry', 'model_switch', 'text_delta', 'usage', 'message', 'complete'])
    expect(events[3]).toMatchObject({ from: 'a/one', to: 'b/two', reason: 'rate_limited' })
    expect(events.at(-1)).toMatchObject({ result: { model: 'b/two' } })
  })

  it('a stream without its finish marker is an error, and length is length', async () => {
    const cut = await collect({
      model: new ScriptedModel([{ text: 'Half', finish: null }]),
      prompt: 'Hi',
      retry: { maxRetries: 0 },
    })
    expect(cut.at(-1)).toMatchObject({ type: 'error', error: { code: 'stream_interrupted' } })
    const long = await collect({ model: new ScriptedModel([{ text: 'Half', finish: 'length' }]), prompt: 'Hi' })
    expect(long.at(-1)).toMatchObject({ type: 'complete', result: { finishReason: 'length', text: 'Half' } })
  })

  it('ENG-USAGE-001 reports the usage of each step once, and survives a callback that throws', async () => {
    const seen: (number | null)[] = []
    const model = new ScriptedModel([{ text: 'a', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }])
    const events = await collect({
      model,
      prompt: 'Hi',
      onUpdateUsage: (usage) => {
        seen.push(usage.totalTokens)
        throw new Error('no')
      },
    })
    expect(seen).toEqual([2])
    expect(types(events)).toEqual(['start', 'text_delta', 'usage', 'notice', 'message', 'complete'])
  })

  it('ignores a callback that rejects later', async () => {
    const strays: unknown[] = []
    const onStray = (reason: unknown): void => void strays.push(reason)
    process.on('unhandledRejection', onStray)
    // The type says `void`, but callers also pass async functions.
    const fail = (): void => Promise.reject(new Error('no')) as unknown as undefined
    const events = await collect({
      model: new ScriptedModel(['Yes.']),
      prompt: 'Hi',
      onUpdateUsage: fail,
      onQueryCompleted: fail,
    })
    await new Promise((resolve) => setTimeout(resolve))
    process.off('unhandledRejection', onStray)
    expect(events.at(-1)?.type).toBe('complete')
    expect(strays).toEqual([])
  })

  it('an abort stops a model that never waits, even if nothing of it is shown', async () => {
    const parts = Array.from({ length: 20_000 }, () => ({ type: 'tool-input' as const, id: 'a', name: 'b', delta: '' }))
    const stop = new AbortController()
    setImmediate(() => setImmediate(() => stop.abort()))
    const events = await collect({ model: new ScriptedModel([{ parts }]), prompt: 'Go', abortSignal: stop.signal })
    expect(types(events)).toEqual(['start', 'cancelled'])
  })

  it('yields to the event loop between questions to a model that never waits', async () => {
    let turned = false
    setImmediate(() => (turned = true))
    await collect({ model: new ScriptedModel(['One.']), prompt: 'Go' })
    await collect({ model: new ScriptedModel(['Two.']), prompt: 'Go' })
    expect(turned).toBe(true)
  })

  it('ENG-ERR-001 accepts a time limit longer than a timer can wait', async () => {
    const MONTH = 30 * 86_400_000
    const waits: number[] = []
    const clock: Clock = {
      now: () => 0,
      sleep: (ms, signal) => {
        waits.push(ms)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
      },
    }
    const model = new ScriptedModel(['Yes.'])
    await Array.fromAsync(query({ model, prompt: 'Hi', clock, timeouts: { turn: MONTH } }))
    expect(waits).toContain(MONTH)
  })

  it('times out a provider that says nothing, and a turn that takes too long', async () => {
    const hanging = (): ScriptedModel => new ScriptedModel([{ text: ['x'], hang: { after: 0 } }])
    const silent = await collect({
      model: hanging(),
      prompt: 'Hi',
      timeouts: { firstToken: 10 },
      clock: ticking(),
      retry: { maxRetries: 0 },
    })
    expect(silent.at(-1)).toMatchObject({ type: 'error', error: { code: 'timeout' } })
    const slow = await collect({
      model: hanging(),
      prompt: 'Hi',
      timeouts: { firstToken: null, idle: null, turn: 10 },
      clock: ticking(),
    })
    expect(slow.at(-1)).toMatchObject({ type: 'error', error: { code: 'timeout', message: expect.stringContaining('10 ms') } })
  })
})

/** A clock that jumps as far as anybody sleeps. */
function ticking(): NonNullable<EngineOptions['clock']> {
  let now = 0
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      now += ms
    },
  }
}

const failure = fc
  .constantFrom(
    'rate_limited',
    'overloaded',
    'network',
    'stream_interrupted',
    'auth',
    'invalid_request',
    'context_length',
    'model_unavailable',
  )
  .map((code) => new CriaError(code, `failed with ${code}`))
const answer: fc.Arbitrary<ScriptedAnswer> = fc.record({
  text: fc.array(fc.string(), { maxLength: 4 }),
  toolCalls: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.constant([
        { name: 'echo', input: {} },
        { name: 'unknown', input: 1 },
      ]),
    },
  ),
  finish: fc.constantFrom('stop', 'length', null, 'error' as const),
  fail: fc.record({ after: fc.nat(8), error: fc.oneof(failure, fc.constant('a string'), fc.constant(new Error('plain'))) }),
})

describe('invariants', () => {
  it('ENG-STREAM-001 exactly one terminal event, always last, seq without gaps, and folding gives the winning attempt', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 6 }),
        fc.array(answer, { maxLength: 3 }),
        fc.option(fc.nat(12)),
        async (script, backup, leaveAfter) => {
          const model = new ScriptedModel(script, { ref: 'a/one' })
          const other = new ScriptedModel(backup, { ref: 'b/two' })
          const echo = { name: 'echo', description: '', inputSchema: {}, needsPermission: false, call: () => 'echo' }
          const events: QueryEvent[] = []
          for await (const event of query({
            ...calm,
            model,
            fallbackModels: [other],
            prompt: 'Hi',
            tools: [echo],
            maxSteps: 4,
          })) {
            events.push(event)
            if (leaveAfter !== null && events.length > leaveAfter) break
          }
          expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index))
          expect(JSON.parse(JSON.stringify(events))).toEqual(events)
          const terminal = events.filter(isTerminal)
          const left = leaveAfter !== null && events.length > leaveAfter
          expect(terminal.length).toBe(left && !isTerminal(events.at(-1) as QueryEvent) ? 0 : 1)
          if (terminal.length === 1) expect(events.at(-1)).toBe(terminal[0])
          if (terminal[0]?.type === 'complete') {
            expect(foldEvents(events).text).toBe(terminal[0].result.text)
            expect(shownText(events)).toBe(terminal[0].result.text)
          }
          if (!left) {
            for (const event of events) {
              if (event.type !== 'tool_request') continue
              expect(
                events.filter(
                  (other) => other.type === 'tool_result' && other.step === event.step && other.result.id === event.tool.id,
                ),
              ).toHaveLength(1)
            }
          }
          expect(model.open + other.open).toBe(0)
        },
      ),
      { numRuns: 300 },
    )
  })
})
