import { describe, expect, it, vi } from 'vitest'
import { foldEvents } from '../core/fold.ts'
import { user } from '../core/message.ts'
import type { ModelRequest } from '../core/model.ts'
import { query } from '../engine/query.ts'
import type { EngineOptions } from '../engine/options.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { cacheKey, ResponseCache } from './response-cache.ts'

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
    ['schema of a tool', { tools: [{ name: 't', description: '', inputSchema: { type: 'object' } }] }],
    ['toolChoice', { toolChoice: 'none' }],
    ['responseFormat', { responseFormat: { type: 'json' } }],
    ['thinking', { thinking: 'low' }],
    ['stream', { stream: false }],
    ['grounding', { grounding }],
  ])('ENG-CACHE-001 depends on %s', (_, change) => {
    expect(cacheKey({ ...request, ...change })).not.toBe(cacheKey(request))
  })

  it('ENG-CACHE-001 depends neither on the order of members nor on members that are undefined', () => {
    const { model, ...rest } = request
    expect(cacheKey({ ...rest, model })).toBe(cacheKey(request))
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

  it('ENG-CACHE-001 keeps tool-calling answers only when asked to', async () => {
    const tool = { name: 'echo', description: '', inputSchema: {}, needsPermission: false, call: () => 'x' }
    for (const [toolCalls, requests] of [
      [false, 4],
      [true, 2],
    ] as const) {
      const model = new ScriptedModel((_, call) => (call % 2 === 0 ? { toolCalls: [{ name: 'echo', input: {} }] } : 'Done.'))
      const cache = new ResponseCache({ toolCalls })
      await ask({ model, cache, tools: [tool] })
      cache.clear()
      if (toolCalls)
        await ask({ model: new ScriptedModel([{ toolCalls: [{ name: 'echo', input: {} }] }, 'Done.']), cache, tools: [tool] })
      await ask({ model, cache, tools: [tool] })
      expect(model.requests).toHaveLength(requests)
    }
  })

  it('ENG-CACHE-001 forgets the least recently used, and what is old', async () => {
    let now = 0
    const cache = new ResponseCache({ max: 2, ttl: 10, clock: { now: () => now } })
    const answer = { parts: [], finishReason: 'stop' as const, abstained: false }
    for (const key of ['a', 'b']) cache.set(key, answer)
    cache.get('a')
    cache.set('c', answer)
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
    now = 10
    expect(['a', 'c'].map((key) => cache.get(key))).toEqual([undefined, undefined])
  })

  it('ENG-CACHE-001 is not changed by who changes an answer', () => {
    const cache = new ResponseCache()
    cache.set('a', { parts: [{ type: 'text', text: 'kept' }], finishReason: 'stop', abstained: false })
    Object.assign(cache.get('a')?.parts[0] ?? {}, { text: 'changed' })
    expect(cache.get('a')?.parts).toEqual([{ type: 'text', text: 'kept' }])
  })

  it('ENG-CACHE-001 equal requests at the same time share one call, and one abort does not end the others', async () => {
    const gate = Promise.withResolvers<void>()
    const model = new ScriptedModel(async (_, call) => {
      if (call === 0) await gate.promise
      return 'shared'
    })
    const cache = new ResponseCache()
    const controller = new AbortController()
    const leader = ask({ model, cache, abortSignal: controller.signal })
    const followers = [ask({ model, cache }), ask({ model, cache })]
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    controller.abort()
    gate.resolve()
    expect((await leader).types.at(-1)).toBe('cancelled')
    expect((await Promise.all(followers)).map(({ text }) => text)).toEqual(['shared', 'shared'])
    expect(model.requests).toHaveLength(2)
  })
})
