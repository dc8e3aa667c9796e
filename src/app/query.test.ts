import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { answer, chatServer, refuse, sendDelta, startStream } from '../../test/support/chat-server.ts'
import type { ChatServer, Reply } from '../../test/support/chat-server.ts'
import { createModel, openRecorder, query, ResponseCache, SimpleBot } from '../index.ts'
import type { EventOf, LanguageModel, ModelFacts, QueryEvent, QueryOptions } from '../index.ts'

let home: string
const servers: ChatServer[] = []
folderForEach((folder) => {
  home = folder
  vi.stubEnv('CRIA_HOME', home)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
})

async function serve(reply: Reply): Promise<ChatServer> {
  const server = await chatServer(reply)
  servers.push(server)
  return server
}

const modelAt = (url: string, name = 'm', facts: Partial<ModelFacts> = {}): LanguageModel =>
  createModel(`openai-compatible/${name}`, { baseURL: url, apiKey: 'sk-canary-1234567890', facts })

const events = (options: Partial<QueryOptions>): Promise<QueryEvent[]> =>
  Array.fromAsync(query({ prompt: 'Is it?', retry: { maxRetries: 0, coolDown: 0 }, ...options }))

function only<Type extends QueryEvent['type']>(all: readonly QueryEvent[], type: Type): EventOf<Type>[] {
  return all.filter((event): event is EventOf<Type> => event.type === type)
}

/** Sends a part of an answer, and closes the connection. */
const breaksOff: Reply = (response) => {
  startStream(response)
  sendDelta(response, 'No, it')
  response.end()
}

const configure = (config: object): void => writeFileSync(join(home, 'config.json'), JSON.stringify(config))

describe('cache', () => {
  it("ENG-CACHE-001 cache: 'journal' keeps answers in the file of the recorder, for later processes, without keys", async () => {
    const server = await serve(answer('Yes, ', 'it is.'))
    const path = join(home, 'own.db')
    const ended: boolean[] = []
    for (let run = 0; run < 2; run++) {
      const recorder = await openRecorder({ path })
      const all = await events({ model: modelAt(server.url), cache: 'journal', recorder })
      const [complete] = only(all, 'complete')
      expect(complete?.result.text).toBe('Yes, it is.')
      ended.push(complete?.result.cacheHit ?? false)
      const detail = await recorder.read.turn(complete?.turnId ?? '')
      expect(detail?.turn.metrics?.cacheHit).toBe(run === 1)
      if (run === 1) expect(detail?.turn).toMatchObject({ costUsd: 0, usage: { inputTokens: 0, outputTokens: 0 } })
      await recorder.close()
    }
    expect(ended).toEqual([false, true])
    expect(server.requests).toHaveLength(1)
    expect(readFileSync(path).includes('sk-canary')).toBe(false)
  })

  it('ENG-CACHE-001 the same name with another base URL or key is another model', async () => {
    const [here, there] = [await serve(answer('here')), await serve(answer('there'))]
    const cache = new ResponseCache()
    const texts: (string | undefined)[] = []
    for (const { url } of [here, there, here, there]) {
      texts.push(only(await events({ model: modelAt(url), cache }), 'complete')[0]?.result.text)
    }
    expect(texts).toEqual(['here', 'there', 'here', 'there'])
    await events({ model: createModel('openai-compatible/m', { baseURL: here.url, apiKey: 'sk-other' }), cache })
    expect([here.requests.length, there.requests.length]).toEqual([2, 1])
  })

  it.each<[string, Partial<QueryOptions>]>([
    ['system', { system: 'Be brief.' }],
    ['prompt', { prompt: 'Is it not?' }],
    ['messages', { prompt: 'Is it?', messages: ['Hello.'] }],
    ['temperature', { temperature: 0.5 }],
    ['topP', { topP: 0.5 }],
    ['seed', { seed: 7 }],
    ['stopSequences', { stopSequences: ['.'] }],
    ['maxOutputTokens', { maxOutputTokens: 99 }],
    ['responseFormat', { responseFormat: { type: 'json' } }],
    ['enableThinking', { enableThinking: true }],
    ['providerOptions', { providerOptions: { openaiCompatible: { user: 'u' } } }],
    ['stream', { stream: false }],
    ['tools', { tools: [{ name: 't', description: 'd', inputSchema: {}, call: () => '' }] }],
    ['toolChoice', { tools: [{ name: 't', description: '', inputSchema: {}, call: () => '' }], toolChoice: 'none' }],
  ])('ENG-CACHE-001 another %s is a different request', async (_, change) => {
    const server = await serve(answer('Yes.'))
    const cache = new ResponseCache()
    const model = modelAt(server.url)
    await events({ model, cache })
    await events({ model, cache })
    expect(server.requests).toHaveLength(1)
    await events({ model, cache, ...change })
    expect(server.requests).toHaveLength(2)
  })

  it('ENG-CACHE-001 keeps no failed answers, and nothing without the option', async () => {
    const server = await serve(refuse(400, 'no'))
    for (const cache of [true, false] as const) {
      await events({ model: modelAt(server.url), cache })
      await events({ model: modelAt(server.url), cache })
    }
    expect(server.requests).toHaveLength(4)
  })

  it('ENG-CACHE-001 bots accept it too', async () => {
    const server = await serve(answer('Yes.'))
    const bot = new SimpleBot({ model: modelAt(server.url), cache: 'journal', streamTarget: 'none' })
    expect((await bot.ask('Is it?')).content).toBe('Yes.')
    const again = await bot.ask('Is it?')
    expect(again).toMatchObject({ content: 'Yes.', costUsd: 0 })
    expect(server.requests).toHaveLength(1)
  })

  it('ENG-CACHE-001 rejects an invalid cache before any request', () => {
    expect(() => query({ prompt: 'Is it?', cache: 'journal' })).toThrow(/needs a `recorder`/)
    expect(() => query({ prompt: 'Is it?', cache: 'disk' as 'journal' })).toThrow(/true, false, 'journal' or a ResponseCache/)
  })
})

describe('turning to another model', () => {
  const LIMITED = refuse(429, 'Slow down.')
  const OVERFLOW = refuse(400, "This model's maximum context length is 10 tokens. However, your messages resulted in 20 tokens.")

  it('ENG-MODEL-001 rate limited: the backup answers, and an event reports it', async () => {
    const [busy, spare] = [await serve(LIMITED), await serve(answer('Yes.'))]
    const all = await events({ model: modelAt(busy.url), fallbackModels: [modelAt(spare.url, 'spare')] })
    expect(only(all, 'model_switch')).toMatchObject([
      { from: 'openai-compatible/m', to: 'openai-compatible/spare', reason: 'rate_limited' },
    ])
    expect(only(all, 'complete')[0]?.result).toMatchObject({ text: 'Yes.', model: 'openai-compatible/spare' })
  })

  it.each([{ model: 'openai-compatible/m' }, {}])(
    'ENG-MODEL-001 a rate-limited model rests over several turns: %o',
    async (named) => {
      const [busy, spare] = [await serve(LIMITED), await serve(answer('Yes.'))]
      vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', busy.url)
      vi.stubEnv('CRIA_MODEL', 'openai-compatible/m')
      for (let turn = 0; turn < 2; turn++)
        await events({ ...named, fallbackModels: [modelAt(spare.url, 'spare')], retry: { maxRetries: 0, coolDown: 60_000 } })
      expect([busy.requests.length, spare.requests.length]).toEqual([1, 2])
    },
  )

  it('ENG-MODEL-001 a rate-limited default model does not let one of its name at another server rest', async () => {
    const [busy, other] = [await serve(LIMITED), await serve(answer('Yes.'))]
    configure({ models: { main: 'openai-compatible/m' }, providers: { 'openai-compatible': { baseURL: busy.url } } })
    const options = { fallbackModels: [modelAt(other.url, 'spare')], retry: { maxRetries: 0, coolDown: 60_000 } }
    // Of no concern for a model at a configured server.
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', 'not a URL')
    expect(only(await events(options), 'model_switch')).toHaveLength(1)
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', other.url)
    expect(only(await events({ ...options, model: 'openai-compatible/m' }), 'model_switch')).toEqual([])
  })

  it('ENG-MODEL-001 context too large: switches to the next larger model, not the next in the list', async () => {
    const [small, other, large] = [await serve(OVERFLOW), await serve(answer('no')), await serve(answer('Yes.'))]
    const all = await events({
      model: modelAt(small.url, 'small', { contextWindow: 10_000 }),
      fallbackModels: [
        modelAt(other.url, 'other', { contextWindow: 10_000 }),
        modelAt(large.url, 'large', { contextWindow: 50_000 }),
      ],
    })
    expect(only(all, 'model_switch')).toMatchObject([{ to: 'openai-compatible/large', reason: 'context_too_large' }])
    expect(other.requests).toEqual([])
  })

  it('ENG-MODEL-001 switchModels: false uses no other model', async () => {
    const [busy, small, spare] = [await serve(LIMITED), await serve(OVERFLOW), await serve(answer('no'))]
    for (const { url } of [busy, small]) {
      const all = await events({
        model: modelAt(url, 'm', { contextWindow: 10_000 }),
        fallbackModels: [modelAt(spare.url, 'spare', { contextWindow: 50_000 })],
        switchModels: false,
      })
      expect(only(all, 'model_switch')).toEqual([])
      expect(all.at(-1)?.type).toBe('error')
    }
    expect(spare.requests).toEqual([])
  })

  it('ENG-MODEL-001 uses the model of the pointer `reasoning` to think, where the named model cannot', async () => {
    const [plain, deep] = [await serve(answer('plain')), await serve(answer('deep'))]
    configure({
      models: { reasoning: 'openai-compatible/deep' },
      providers: { 'openai-compatible': { baseURL: deep.url } },
    })
    const model = modelAt(plain.url, 'plain', { thinking: false })
    const all = await events({ model, enableThinking: true })
    expect(only(all, 'start')[0]?.model).toBe('openai-compatible/plain')
    expect(only(all, 'model_switch')).toMatchObject([
      { from: 'openai-compatible/plain', to: 'openai-compatible/deep', reason: 'specialized_task' },
    ])
    expect(only(all, 'complete')[0]?.result.text).toBe('deep')
    for (const options of [{ enableThinking: true, switchModels: false }, { enableThinking: 'off' as const }, {}]) {
      const others = await events({ model, ...options })
      expect(only(others, 'model_switch')).toEqual([])
      expect(only(others, 'complete')[0]?.result.text).toBe('plain')
    }
  })

  it('ENG-MODEL-001 pointers are looked up in the configuration, with their facts', async () => {
    const server = await serve(answer('Yes.'))
    configure({
      models: { quick: 'openai-compatible/small' },
      providers: { 'openai-compatible': { baseURL: server.url } },
      modelFacts: { 'openai-compatible/small': { price: { input: 1, output: 2 } } },
    })
    const [complete] = only(await events({ model: 'quick' }), 'complete')
    expect(complete?.result).toMatchObject({ model: 'openai-compatible/small', costUsd: (12 * 1 + 3 * 2) / 1e6 })
    expect(() => query({ prompt: 'Is it?', model: 'task' })).toThrow(/"task" is not set/)
  })
})

describe('query_completed', () => {
  it('ENG-METRIC-002 is reported once per query, however it ends', async () => {
    const [works, fails] = [await serve(answer('Yes.')), await serve(refuse(400, 'no'))]
    const reports: object[] = []
    const onQueryCompleted: QueryOptions['onQueryCompleted'] = (metrics) => reports.push(metrics)
    await events({ model: modelAt(works.url), onQueryCompleted })
    await events({ model: modelAt(fails.url), onQueryCompleted })
    await events({ model: modelAt(works.url), onQueryCompleted, abortSignal: AbortSignal.abort() })
    for await (const _ of query({ prompt: 'Is it?', model: modelAt(works.url), onQueryCompleted })) break
    await new SimpleBot({ model: modelAt(works.url), recorder: false, streamTarget: 'none', onQueryCompleted }).ask('Is it?')
    expect(reports).toMatchObject([
      { type: 'query_completed', state: 'done', usage: { inputTokens: 12, outputTokens: 3 }, errors: 0 },
      { type: 'query_completed', state: 'failed', errors: 1 },
      { type: 'query_completed', state: 'cancelled' },
      { type: 'query_completed', state: 'cancelled' },
      { type: 'query_completed', state: 'done', bot: { kind: 'SimpleBot' } },
    ])
  })
})

describe('what was spent', () => {
  it('ENG-METRIC-002 adds up per model, session and day, also over a switch of models within a turn and a session', async () => {
    const [works, breaks] = [await serve(answer('Yes.')), await serve(breaksOff)]
    const recorder = await openRecorder({ path: join(home, 'own.db') })
    const dear = modelAt(breaks.url, 'dear', { price: { input: 100, output: 100 } })
    const cheap = modelAt(works.url, 'cheap', { price: { input: 1, output: 2 } })
    const first = await events({ model: dear, fallbackModels: [cheap], recorder })
    const { sessionId = '', costUsd } = only(first, 'complete')[0]?.result ?? {}
    await events({ model: cheap, recorder, sessionId })
    await events({ model: modelAt(works.url, 'of unknown price'), recorder, sessionId })
    const price = (12 * 1 + 3 * 2) / 1e6
    const rows = Object.fromEntries((await recorder.stats()).map((row) => [row.model, row]))
    expect(rows['openai-compatible/dear']).toMatchObject({ turns: 0, costUsd: (costUsd ?? 0) - price, unknownCost: 0 })
    expect(rows['openai-compatible/dear']?.costUsd).toBeGreaterThan(0)
    expect(rows['openai-compatible/cheap']).toMatchObject({ turns: 2, inputTokens: 24, outputTokens: 6 })
    expect(rows['openai-compatible/cheap']?.costUsd).toBeCloseTo(2 * price, 12)
    expect(rows['openai-compatible/of unknown price']).toMatchObject({ turns: 1, costUsd: 0, unknownCost: 1 })
    const [session] = await recorder.sessionStats()
    expect(session).toMatchObject({ sessionId, turns: 3, unknownCost: 1 })
    expect(session?.costUsd).toBeCloseTo((costUsd ?? 0) + price, 12)
    await recorder.close()
  })
})

describe('a program that names no model, without any key', () => {
  it('gets an error before any event or row, from query() and from bots', async () => {
    const expected = { code: 'configuration', hint: expect.stringContaining('OPENAI_API_KEY') as string }
    await expect(events({})).rejects.toMatchObject(expected)
    await expect(new SimpleBot({ recorder: false }).ask('Is it?')).rejects.toMatchObject(expected)
  })

  it('uses the builtin model where that is named', async () => {
    const named = async (): Promise<string | undefined> => only(await events({}), 'complete')[0]?.result.model
    vi.stubEnv('CRIA_MODEL', 'builtin/extractive')
    expect(await named()).toBe('builtin/extractive')
    vi.stubEnv('CRIA_MODEL', '')
    configure({ models: { main: 'builtin/extractive' } })
    expect(await named()).toBe('builtin/extractive')
  })

  it('CORE-SIMPLE-006 needs no model for mockResponse', async () => {
    const answer = await new SimpleBot({ recorder: false, streamTarget: 'none', mockResponse: 'Yes.' }).ask('Is it?')
    expect(answer).toMatchObject({ content: 'Yes.', model: 'mock/response' })
  })
})
