/** Models that users supply: the parts that they yield, and their facts. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { LanguageModel, ModelPart } from '../core/model.ts'
import { UNKNOWN_USAGE } from '../core/usage.ts'
import { query } from '../engine/query.ts'
import { ResponseCache } from './response-cache.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

/** A model as JavaScript may write it. */
function modelOf(stream: (...args: never[]) => unknown, ref = 'mine/model'): LanguageModel {
  return { ref, facts: { contextWindow: null, maxOutputTokens: null }, stream } as unknown as LanguageModel
}

const yielding = (...parts: readonly unknown[]): LanguageModel =>
  modelOf(async function* () {
    yield* parts
  })

async function collect(
  model: LanguageModel,
  options: { readonly cache?: ResponseCache; readonly fallbackModels?: LanguageModel[] } = {},
) {
  const events: QueryEvent[] = []
  for await (const event of query({ model, prompt: 'Hi', retry: { initialDelay: 0 }, ...options })) events.push(event)
  return events
}

const DONE = { type: 'finish', reason: 'stop' }
const usage = (numbers: object): object => ({ type: 'usage', usage: { ...UNKNOWN_USAGE, ...numbers } })

describe('ENG-ERR-001 a model that yields something other than a part ends the turn with an error that says why', () => {
  test.each<[string, unknown, RegExp]>([
    ['null', null, /a part must be an object with a `type`, but is null/],
    ['undefined', undefined, /a part must be an object/],
    ['a string', 'text', /but is "text"/],
    ['a list', [], /but is a list/],
    ['no type', { text: 'x' }, /an object with a `type`/],
    ['text without text', { type: 'text' }, /`text` of a part of type "text" must be a string, but is undefined/],
    ['thinking of a number', { type: 'thinking', text: 5 }, /`text` of a part of type "thinking"/],
    ['usage without usage', { type: 'usage' }, /`usage` of a part of type "usage" must be an object/],
    [
      'tokens below zero',
      usage({ inputTokens: -5 }),
      /`usage.inputTokens`.* must be a whole number of tokens, or null .* but is -5/,
    ],
    ['tokens as text', usage({ outputTokens: '9' }), /`usage.outputTokens`.* but is "9"/],
    ['tokens that are not a number', usage({ totalTokens: Number.NaN }), /`usage.totalTokens`.* but is NaN/],
    ['half a token', usage({ reasoningTokens: 0.5 }), /`usage.reasoningTokens`/],
    ['usage of an unknown kind', usage({ exactness: 'perhaps' }), /`usage.exactness`.* one of exact, estimated, unknown/],
    ['a call without id', { type: 'tool-call', name: 'a', input: {} }, /`id` of a part of type "tool-call"/],
    ['a call whose id is empty', { type: 'tool-call', id: '', name: 'a', input: {} }, /a string that is not empty/],
    ['a call whose id is a number', { type: 'tool-call', id: 7, name: 'a', input: {} }, /but is 7/],
    ['a call without input', { type: 'tool-call', id: 'c', name: 'a' }, /`input`.* must be JSON/],
    ['a call whose input is not JSON', { type: 'tool-call', id: 'c', name: 'a', input: { n: 1n } }, /`input`.* must be JSON/],
    ['data that is not JSON', { type: 'text', text: 'x', providerData: { n: 1n } }, /`providerData`/],
    ['an end for no known reason', { type: 'finish', reason: 'done' }, /`reason`.* one of stop, length/],
  ])('%s', async (_, part, message) => {
    for (const cache of [undefined, new ResponseCache()]) {
      const events = await collect(yielding({ type: 'text', text: 'Hel' }, part, DONE), cache === undefined ? {} : { cache })
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: { code: 'invalid_response', retryable: false, message: expect.stringContaining('mine/model') as string },
      })
      expect(events.at(-1)).toMatchObject({ error: { message: expect.stringMatching(message) as string } })
    }
  })

  test.each<[string, () => unknown, RegExp]>([
    ['nothing', () => undefined, /must return an async iterable of parts, but returns undefined/],
    ['a list', () => [DONE], /but returns a list/],
    ['a promise that rejects', () => Promise.reject(new Error('no network')), /returns a promise: write `async \*stream\(\)`/],
    ['a promise', () => Promise.resolve([DONE]), /but returns a promise/],
  ])('stream() that gives %s', async (_, stream, message) => {
    const [last] = (await collect(modelOf(stream))).slice(-1)
    expect(last).toMatchObject({
      type: 'error',
      error: { code: 'invalid_response', message: expect.stringMatching(message) as string },
    })
    await new Promise(setImmediate)
    expect(unhandled).toEqual([])
  })

  test('a fallback model answers instead', async () => {
    const events = await collect(
      modelOf(() => undefined),
      { fallbackModels: [yielding({ type: 'text', text: 'Hello.' }, DONE)] },
    )
    expect(events.map(({ type }) => type)).toContain('model_switch')
    expect(foldEvents(events)).toMatchObject({ text: 'Hello.', result: { finishReason: 'stop' } })
  })

  test('a part of unknown type is ignored', async () => {
    const parts: readonly (ModelPart | object)[] = [{ type: 'weather', sun: 1 }, { type: 'text', text: 'Fine.' }, DONE]
    expect(foldEvents(await collect(yielding(...parts))).result?.text).toBe('Fine.')
  })
})

describe('facts of a model that a user supplies', () => {
  const answering = (facts: unknown): LanguageModel =>
    ({ ...yielding({ type: 'text', text: 'Hi.' }, DONE), facts }) as LanguageModel

  test.each([[{ contextWindow: null, maxOutputTokens: null, price: null }], [{ price: null }], [{}]])(
    'CORE-SIMPLE-003 %j means an unknown price',
    async (facts) => {
      const { result } = foldEvents(await collect(answering(facts)))
      expect(result).toMatchObject({ text: 'Hi.', costUsd: null })
      expect(() => query({ model: answering(facts), prompt: 'Hi', budget: { costUsd: 1 } })).toThrow(/its price is not known/)
    },
  )

  test.each([
    [null, /`ref`, `facts` and `stream\(\)`/],
    [{ contextWindow: '8k' }, /`model.facts.contextWindow` must be a number of tokens, or null .* but is "8k"/],
    [{ maxOutputTokens: -1 }, /`model.facts.maxOutputTokens`/],
    [{ price: 3 }, /`model.facts.price` must be an object/],
    [{ price: { input: 1 } }, /`model.facts.price.output` must be a number of US dollars for a million tokens, but is undefined/],
    [{ price: { input: null, output: 2 } }, /`model.facts.price.input` must be .* for a million tokens, but is null/],
    [{ price: { input: 1, output: 2, cacheRead: Number.NaN } }, /`model.facts.price.cacheRead` .* or null if unknown/],
  ])('%j is refused before the first event', (facts, message) => {
    expect(() => query({ model: answering(facts), prompt: 'Hi' })).toThrow(message)
  })

  test('facts of fallback models are checked, too', () => {
    const fallbackModels = [answering({}), answering({ price: 'free' })]
    expect(() => query({ model: answering({}), fallbackModels, prompt: 'Hi' })).toThrow(/`fallbackModels\[1\].facts.price`/)
  })
})
