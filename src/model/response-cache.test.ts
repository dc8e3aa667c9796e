import { setImmediate } from 'node:timers/promises'
import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, it, vi } from 'vitest'
import { createModel } from '../app/models.ts'
import type { ModelOptions } from '../app/models.ts'
import { resolveModel } from '../app/open-model.ts'
import { foldEvents } from '../core/fold.ts'
import type { CacheStore } from '../core/storage.ts'
import { fromParts, toolResult, user } from '../core/message.ts'
import type { ModelRequest } from '../core/model.ts'
import { CriaError } from '../core/error.ts'
import { query } from '../engine/query.ts'
import type { EngineOptions, QueryMetrics } from '../engine/options.ts'
import type { AiSdkModel } from '../providers/ai-sdk/language-model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { cacheKey, MemoryCache, ResponseCache } from './response-cache.ts'

const MODEL = { ref: 'a/b', identity: 'here' }
const request: ModelRequest = { model: 'a/b', messages: [user('Hi')], stream: true, temperature: 0 }

describe('cacheKey', () => {
  const grounding = { question: 'q', passages: [], weights: {} }
  it.each<[string, Partial<ModelRequest>]>([
    ['model', { model: 'a/c' }],
    ['messages', { messages: [user('Ho')] }],
    ['system prompt', { messages: [{ role: 'system', content: 's', parts: [] }, user('Hi')] }],
    ['temperature', { temperature: 1 }],
    ['maxOutputTokens', { maxOutputTokens: 5 }],
    ['topP', { topP: 0.5 }],
    ['topK', { topK: 5 }],
    ['presencePenalty', { presencePenalty: 1 }],
    ['frequencyPenalty', { frequencyPenalty: 1 }],
    ['stopSequences', { stopSequences: ['x'] }],
    ['seed', { seed: 1 }],
    ['providerOptions', { providerOptions: { a: { b: 1 } } }],
    ['tools', { tools: [{ name: 't', description: '', inputSchema: {} }] }],
    ['description of a tool', { tools: [{ name: 't', description: 'd', inputSchema: {} }] }],
    ['schema of a tool', { tools: [{ name: 't', description: '', inputSchema: { type: 'object' } }] }],
    ['toolChoice', { toolChoice: 'none' }],
    ['responseFormat', { responseFormat: { type: 'json' } }],
    ['thinking', { thinking: 'low' }],
    ['stream', { stream: false }],
    ['grounding', { grounding }],
  ])('ENG-CACHE-001 depends on %s', (_, change) => {
    expect(cacheKey({ ...request, ...change }, MODEL)).not.toBe(cacheKey(request, MODEL))
  })

  it('ENG-CACHE-001 depends neither on the order of members nor on members that are undefined', () => {
    const { model, ...rest } = request
    expect(cacheKey({ ...rest, model }, MODEL)).toBe(cacheKey(request, MODEL))
  })

  it('ENG-CACHE-001 depends on the identity of the model, not only on its name', () => {
    expect(cacheKey(request, { ...MODEL, identity: 'there' })).not.toBe(cacheKey(request, MODEL))
    const [one, two] = [new ScriptedModel([]), new ScriptedModel([])]
    expect(cacheKey(request, one)).toBe(cacheKey(request, one))
    expect(cacheKey(request, one)).not.toBe(cacheKey(request, two))
  })

  it.each<[string, ModelOptions]>([
    ['base URL', { baseURL: 'http://other.test/v1' }],
    ['key', { apiKey: 'sk-other' }],
    ['headers', { headers: { 'x-tenant': 'b' } }],
    ['fetch', { fetch: (...given) => fetch(...given) }],
    ['thinkTags', { thinkTags: true }],
    ['facts', { facts: { thinking: false } }],
  ])('ENG-CACHE-001 depends on the %s of the model, and does not reveal it', (_, change) => {
    const base: ModelOptions = { baseURL: 'http://one.test/v1', apiKey: 'sk-secret', headers: { 'x-tenant': 'a' }, env: {} }
    const identity = (options: ModelOptions): string | undefined => createModel('openai-compatible/x', options).identity
    expect(identity({ ...base })).toBe(identity({ ...base }))
    expect(identity({ ...base, ...change })).not.toBe(identity(base))
    expect(identity(base)).toMatch(/^[0-9a-f]{64}$/)
  })

  it('ENG-CACHE-001 changes with the API key in the environment', () => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://one.test/v1', OPENAI_COMPATIBLE_API_KEY: 'sk-one' }
    const model = createModel('openai-compatible/x', { env })
    const before = model.identity
    env.OPENAI_COMPATIBLE_API_KEY = 'sk-two'
    expect(model.identity).not.toBe(before)
  })

  it('ENG-CACHE-001 treats AI SDK models with equal options as one model, and others as different ones', () => {
    const identity = (baseURL: string, api: 'responses' | 'chat' = 'responses'): string | undefined =>
      resolveModel(createOpenAI({ baseURL, apiKey: 'sk-a' })[api]('gpt-5')).identity
    expect(identity('http://one.test')).toBe(identity('http://one.test'))
    expect(identity('http://one.test')).not.toBe(identity('http://two.test'))
    expect(identity('http://one.test')).not.toBe(identity('http://one.test', 'chat'))
    const foreign = (): AiSdkModel => ({
      specificationVersion: 'v4',
      provider: 'p',
      modelId: 'm',
      doGenerate: () => Promise.reject(new Error('no')),
      doStream: () => Promise.reject(new Error('no')),
    })
    const one = foreign()
    expect(resolveModel(one).identity).toBe(resolveModel(one).identity)
    expect(resolveModel(one).identity).not.toBe(resolveModel(foreign()).identity)
  })
})

const ask = async (options: Omit<EngineOptions, 'prompt'>): Promise<ReturnType<typeof foldEvents> & { types: string[] }> => {
  const events = await Array.fromAsync(query({ prompt: 'Hi', retry: { maxRetries: 0 }, ...options }))
  return { ...foldEvents(events), types: events.map(({ type }) => type) }
}

describe('ResponseCache', () => {
  it('ENG-CACHE-001 a hit yields the same content with a new id, at cost 0, and says so', async () => {
    const model = new ScriptedModel([{ thinking: 'hm', text: ['a', 'b'], usage: { inputTokens: 5, outputTokens: 2 } }], {
      facts: { price: { input: 1, output: 1 } },
    })
    const cache = new ResponseCache()
    const first = await ask({ model, cache })
    const second = await ask({ model, cache })
    expect(model.requests).toHaveLength(1)
    expect(second.types).toEqual(first.types)
    expect(second.message?.parts).toEqual(first.message?.parts)
    expect(second.message?.id).not.toBe(first.message?.id)
    expect(first.result).toMatchObject({ cacheHit: false, costUsd: 7e-6 })
    expect(second.result).toMatchObject({ cacheHit: true, costUsd: 0, usage: { inputTokens: 0 } })
  })

  it.each([
    ['an answer that was cut', { text: 'a', finish: 'length' as const }],
    ['an answer that was filtered', { text: 'a', finish: 'content-filter' as const }],
    ['a failure', { fail: { after: 0, error: new Error('no') } }],
    ['an answer without its end', { text: 'a', finish: null }],
  ])('ENG-CACHE-001 does not keep %s', async (_, answer) => {
    const model = new ScriptedModel([answer, 'whole'])
    const cache = new ResponseCache()
    await ask({ model, cache })
    expect((await ask({ model, cache })).text).toBe('whole')
  })

  it('ENG-CACHE-001 keeps tool-calling answers only when asked to, and gives their calls new ids', async () => {
    const tool = { name: 'echo', description: '', inputSchema: {}, needsPermission: false, call: () => 'x' }
    for (const [toolCalls, requests] of [
      [false, 2],
      [true, 1],
    ] as const) {
      const model = new ScriptedModel(() => ({ toolCalls: [{ name: 'echo', input: {} }] }))
      const cache = new ResponseCache({ toolCalls })
      const first = await ask({ model, cache, tools: [tool], executeTools: false })
      const second = await ask({ model, cache, tools: [tool], executeTools: false })
      expect(model.requests).toHaveLength(requests)
      const [before, after] = [first.message?.toolCalls?.[0], second.message?.toolCalls?.[0]]
      expect(after).toMatchObject({ name: 'echo', input: {} })
      // The model itself gives each of its calls the same id.
      expect(after?.id === before?.id).toBe(!toolCalls)
    }
  })

  it('ENG-CACHE-001 answers every step of a turn with tools from the cache, whatever ids its calls have', async () => {
    const tool = { name: 'echo', description: '', inputSchema: {}, needsPermission: false, call: () => 'x' }
    const model = new ScriptedModel((_, call) =>
      call % 3 === 2 ? 'Done.' : { toolCalls: [{ id: `c${call}`, name: 'echo', input: { call: call % 3 } }] },
    )
    const cache = new ResponseCache({ toolCalls: true })
    expect((await ask({ model, cache, tools: [tool] })).text).toBe('Done.')
    expect((await ask({ model, cache, tools: [tool] })).text).toBe('Done.')
    expect(model.requests).toHaveLength(3)
  })

  it('ENG-CACHE-001 depends on which result belongs to which call', () => {
    const calls = (first: string, second: string): ModelRequest => ({
      ...request,
      messages: [
        fromParts('assistant', [
          { type: 'tool-call', id: 'a', name: 'f', input: {} },
          { type: 'tool-call', id: 'b', name: 'f', input: {} },
        ]),
        toolResult({ id: first, name: 'f', content: 'one' }),
        toolResult({ id: second, name: 'f', content: 'two' }),
      ].map(({ role, content, parts }) => ({ role, content, parts })),
    })
    expect(cacheKey(calls('a', 'b'), MODEL)).not.toBe(cacheKey(calls('b', 'a'), MODEL))
  })

  it('ENG-CACHE-001 an answer that several share is stored once', async () => {
    const entries = new MemoryCache()
    let stored = 0
    const store: CacheStore = {
      get: (key, now) => entries.get(key, now),
      set: (...given) => (stored++, entries.set(...given)),
      clear: () => entries.clear(),
    }
    const cache = new ResponseCache({ store })
    const model = new ScriptedModel([{ text: 'Once.', before: () => setImmediate() }])
    await Promise.all([ask({ model, cache }), ask({ model, cache }), ask({ model, cache })])
    expect([model.requests.length, stored]).toEqual([1, 1])
  })

  it('ENG-CACHE-001 is not affected by changes to an answer that it returned', async () => {
    const cache = new ResponseCache()
    await cache.set('a', { parts: [{ type: 'text', text: 'kept' }], finishReason: 'stop', abstained: false })
    Object.assign((await cache.get('a'))?.parts[0] ?? {}, { text: 'changed' })
    expect((await cache.get('a'))?.parts).toEqual([{ type: 'text', text: 'kept' }])
  })

  it('ENG-CACHE-001 stores the answer of a fallback under the name of the fallback', async () => {
    const cache = new ResponseCache()
    const model = new ScriptedModel(() => ({ fail: { after: 0, error: new CriaError('model_unavailable', 'gone') } }))
    const other = new ScriptedModel(['from the other'], { ref: 'scripted/other' })
    await ask({ model, fallbackModels: [other], cache })
    const second = await ask({ model, fallbackModels: [other], cache })
    expect(second).toMatchObject({ text: 'from the other', result: { cacheHit: true, model: 'scripted/other' } })
    expect([model.requests.length, other.requests.length]).toEqual([2, 1])
  })
})

describe('equal requests at the same time', () => {
  const usage = { inputTokens: 5, outputTokens: 2 }
  const facts = { price: { input: 1, output: 1 } }

  /** Says one word for each time it is let. */
  function stepwise(words: readonly string[], fail?: Error): { model: ScriptedModel; say: () => void } {
    const steps = words.map(() => Promise.withResolvers<void>())
    let said = 0
    const model = new ScriptedModel(
      (_, call) =>
        call > 0 && fail !== undefined
          ? { text: words, usage }
          : {
              text: words,
              usage,
              before: async (part) => steps[part]?.promise,
              ...(fail === undefined ? {} : { fail: { after: 1, error: fail } }),
            },
      { facts },
    )
    return { model, say: () => steps[said++]?.resolve() }
  }

  it('ENG-CACHE-001 share one call, each sees all of it, and one pays', async () => {
    const { model, say } = stepwise(['a', 'b'])
    const cache = new ResponseCache()
    const asked = [ask({ model, cache }), ask({ model, cache }), ask({ model, cache })]
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    say()
    say()
    const answers = await Promise.all(asked)
    expect(answers.map(({ text }) => text)).toEqual(['ab', 'ab', 'ab'])
    expect(answers.map(({ result }) => [result?.costUsd, result?.cacheHit])).toEqual([
      [7e-6, false],
      [0, true],
      [0, true],
    ])
    expect(new Set(answers.map(({ message }) => message?.id)).size).toBe(3)
    expect([model.requests.length, model.open]).toEqual([1, 0])
  })

  it('ENG-CACHE-001 an abort of one reader leaves the call to the others, and one of them pays', async () => {
    const { model, say } = stepwise(['a', 'b'])
    const cache = new ResponseCache()
    const controller = new AbortController()
    const metrics: QueryMetrics[] = []
    const leader = ask({ model, cache, abortSignal: controller.signal, onQueryCompleted: (each) => metrics.push(each) })
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    const followers = [ask({ model, cache }), ask({ model, cache })]
    say()
    await setImmediate()
    controller.abort()
    expect((await leader).types.at(-1)).toBe('cancelled')
    say()
    const stayed = await Promise.all(followers)
    expect(stayed.map(({ text }) => text)).toEqual(['ab', 'ab'])
    expect(stayed.map(({ result }) => result?.costUsd)).toEqual([7e-6, 0])
    expect(metrics.map(({ costUsd }) => costUsd)).toEqual([0])
    expect([model.requests.length, model.open]).toEqual([1, 0])
  })

  it('ENG-CACHE-001 the call ends when the last reader leaves, who pays for what had arrived', async () => {
    const { model, say } = stepwise(['some words', 'b'])
    const cache = new ResponseCache()
    const controllers = [new AbortController(), new AbortController()]
    const metrics: QueryMetrics[] = []
    const asked = controllers.map(({ signal }) =>
      ask({ model, cache, abortSignal: signal, onQueryCompleted: (each) => metrics.push(each) }),
    )
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    say()
    for (const controller of controllers) controller.abort()
    expect((await Promise.all(asked)).map(({ types }) => types.at(-1))).toEqual(['cancelled', 'cancelled'])
    await vi.waitFor(() => expect(model.open).toBe(0))
    expect(metrics.filter(({ costUsd }) => costUsd !== 0)).toHaveLength(1)
    expect(model.requests).toHaveLength(1)
  })

  it('ENG-CACHE-001 a failed call is repeated once, not by each reader', async () => {
    const { model, say } = stepwise(['a', 'b'], new CriaError('overloaded', 'busy', { retryable: true }))
    const cache = new ResponseCache()
    const retry = { maxRetries: 1, initialDelay: 5 }
    const asked = [ask({ model, cache, retry }), ask({ model, cache, retry })]
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    say()
    const answers = await Promise.all(asked)
    expect(answers.map(({ text }) => text)).toEqual(['ab', 'ab'])
    expect(answers.flatMap(({ types }) => types.filter((type) => type === 'reset'))).toHaveLength(2)
    expect(model.requests).toHaveLength(2)
  })

  it('ENG-CACHE-001 a turn with a lower output limit does not cut the answer of others', async () => {
    const { model, say } = stepwise(['a', 'b'])
    const cache = new ResponseCache()
    const asked = [ask({ model, cache, budget: { tokens: 500 } }), ask({ model, cache })]
    await vi.waitFor(() => expect(model.requests).toHaveLength(2))
    say()
    say()
    expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(['ab', 'ab'])
    expect(model.requests[0]?.maxOutputTokens).toBeLessThan(500)
    expect(model.requests[1]?.maxOutputTokens).toBeUndefined()
  })
})
