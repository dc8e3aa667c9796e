/** Ends of answers: empty, paused, endless, and after every model has failed. */

import { describe, expect, test } from 'vitest'
import { all, collect, tool } from '../../test/calls.ts'
import { CriaError } from '../core/error.ts'
import { foldEvents } from '../core/fold.ts'
import type { LanguageModel, ModelPart, ModelRequest } from '../core/model.ts'
import { UNKNOWN_FACTS } from '../core/model.ts'

type Step = readonly ModelPart[] | CriaError | ((request: ModelRequest) => Iterable<ModelPart>)

/** Answers the n-th request with the n-th step, the last for all that follow. */
function model(steps: readonly Step[], ref = 'test/model'): LanguageModel & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    ref,
    facts: UNKNOWN_FACTS,
    requests,
    async *stream(request) {
      const step = steps[Math.min(requests.length, steps.length - 1)] ?? []
      requests.push(request)
      if (step instanceof CriaError) throw step
      yield* typeof step === 'function' ? step(request) : step
    },
  }
}

const text = (said: string): ModelPart => ({ type: 'text', text: said })
const stop: ModelPart = { type: 'finish', reason: 'stop' }
const call = (id: string): readonly ModelPart[] => [
  { type: 'tool-call', id, name: 'look', input: {} },
  { type: 'finish', reason: 'tool-calls' },
]
const look = tool('look', () => 'Nothing.')
const quick = { maxRetries: 0 }

describe('an answer that says nothing', () => {
  test('fails if it is empty or holds only thinking', async () => {
    for (const parts of [[], [{ type: 'thinking', text: 'Hm.' } as const]]) {
      const events = await collect({ model: model([[...parts, stop]]), retry: quick })
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'no_assistant_message', retryable: true } })
    }
  })

  test('completes the turn after the results of tools, with one request', async () => {
    const asked = model([call('a'), [stop]])
    const events = await collect({ model: asked, tools: [look] })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: '', finishReason: 'stop', steps: 2 } })
    expect(asked.requests).toHaveLength(2)
  })
})

test('a paused answer is continued automatically, and counts as a step', async () => {
  const pause: ModelPart = { type: 'finish', reason: 'stop', rawReason: 'pause_turn' }
  const asked = model([
    [text('I search. '), pause],
    [text('It is 4.'), stop],
  ])
  const events = await collect({ model: asked })
  expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'It is 4.', steps: 2 } })
  expect(asked.requests[1]?.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'I search. ' })
  const limited = await collect({ model: model([[text('I search. '), pause]]), maxSteps: 3 })
  expect(limited.at(-1)).toMatchObject({ type: 'complete', result: { steps: 3 } })
})

describe('the arguments of a call while they arrive', () => {
  const typing: readonly ModelPart[] = ['', '{"path":', '"a"}'].map((delta) => ({
    type: 'tool-input',
    id: 'a',
    name: 'look',
    delta,
  }))

  test('are shown before the call is made', async () => {
    const events = await collect({
      model: model([
        [...typing, ...call('a')],
        [text('Done.'), stop],
      ]),
      tools: [look],
    })
    const types = events.map(({ type }) => type)
    expect(all(events, 'tool_input_delta').map(({ id, name, delta }) => [id, name, delta])).toEqual([
      ['a', 'look', '{"path":"a"}'],
    ])
    expect(types.indexOf('tool_input_delta')).toBeLessThan(types.indexOf('tool_request'))
  })

  test('are void after a reset, and are not part of the text', async () => {
    const broken = new CriaError('stream_interrupted', 'It broke.')
    const breaking = function* (): Generator<ModelPart> {
      yield* typing
      throw broken
    }
    const events = await collect({
      model: model([breaking, [text('Done.'), stop]]),
      retry: { maxRetries: 1, initialDelay: 0, afterOutput: 'error' },
    })
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['tool_input_delta', 'retry', 'reset', 'complete']) as string[],
    )
    expect(foldEvents(events).text).toBe('Done.')
  })
})

describe('an endless answer is stopped, and its text so far is kept', () => {
  const endless = (part: (index: number) => ModelPart) =>
    function* (): Generator<ModelPart> {
      for (let index = 0; ; index++) yield part(index)
    }
  test.each<readonly [limit: string, part: (index: number) => ModelPart]>([
    ['text', () => text('x'.repeat(100))],
    ['thinking', () => ({ type: 'thinking', text: 'x'.repeat(100) })],
    ['arguments', () => ({ type: 'tool-input', id: 'a', name: 'look', delta: 'x'.repeat(100) })],
    ['calls', (index) => ({ type: 'tool-call', id: `c${index}`, name: 'look', input: {} })],
  ])('%s', async (limit, part) => {
    const asked = model([endless(part)])
    const events = await collect({ model: asked, tools: [look], answerLimits: { [limit]: 1000 } })
    const last = events.at(-1)
    expect(last).toMatchObject({
      type: 'error',
      error: {
        code: 'invalid_response',
        retryable: false,
        details: { limit, most: 1000 },
        hint: expect.stringContaining(limit) as string,
      },
    })
    expect(asked.requests).toHaveLength(1)
    if (limit === 'text') expect(foldEvents(events).text).toHaveLength(1000)
  })

  test('unless its limit is lifted', async () => {
    const long = model([[text('x'.repeat(2000)), stop]])
    const events = await collect({ model: long, answerLimits: { text: null } })
    expect(events.at(-1)).toMatchObject({ type: 'complete' })
  })
})

test('the error after all models failed names each model and its error', async () => {
  const events = await collect({
    model: model([new CriaError('overloaded', 'a answered 503.')], 'test/a'),
    fallbackModels: [
      model([new CriaError('model_unavailable', 'b does not exist')], 'test/b'),
      model([new CriaError('auth', 'c: there is no API key.')], 'test/c'),
    ],
    retry: quick,
  })
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    error: {
      code: 'auth',
      message: expect.stringMatching(
        /^c: there is no API key\..*test\/a: a answered 503\. test\/b: b does not exist\.$/,
      ) as string,
      details: {
        modelsBefore: [
          { model: 'test/a', code: 'overloaded' },
          { model: 'test/b', code: 'model_unavailable' },
        ],
      },
    },
  })
})
