/** The requests of bots, and their record in the journal. */

import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { tool } from '../../test/calls.ts'
import { createModel } from '../app/models.ts'
import { openRecorder } from '../app/journal.ts'
import type { JsonObject } from '../core/json.ts'
import { CriaError } from '../core/error.ts'
import { assistant, developer, system, user } from '../core/message.ts'
import type { MessageInput } from '../core/message.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { AgentBot } from './tool-bots.ts'
import { AsyncQueryBot } from './async-query-bot.ts'
import { QueryBot } from './query-bot.ts'
import { SimpleBot } from './simple-bot.ts'
import type { BotOptions } from './options.ts'

type Journal = Awaited<ReturnType<typeof openRecorder>>

let server: Server
let url: string
let bodies: JsonObject[]
let keys: unknown[]
let recorder: Journal

/** A server that refuses every request, and remembers it. */
beforeEach(async () => {
  bodies = []
  keys = []
  server = createServer((request, response) => {
    keys.push(request.headers.authorization ?? request.headers['x-api-key'])
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as JsonObject)
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'No such model.', type: 'not_found_error' } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  recorder = await openRecorder(':memory:')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  server.close()
  await recorder.close()
})

async function refused(ref: string, options: BotOptions): Promise<{ temperatures: unknown; topP: unknown; notices: unknown }> {
  const model = createModel(ref, { baseURL: url, apiKey: 'k' })
  const bot = new SimpleBot({ model, recorder, streamTarget: 'api', retry: { maxRetries: 0, coolDown: 0 }, ...options })
  const error: unknown = await bot.ask('Hi').catch((thrown: unknown) => thrown)
  const detail = await recorder.read.turn((error as { details: { turnId: string } }).details.turnId)
  const spans = detail?.spans.map(({ attributes }) => attributes['gen_ai.request.temperature'] ?? null) ?? []
  const body = bodies.at(-1) ?? {}
  return {
    temperatures: [body['temperature'] ?? null, detail?.turn.temperature, ...spans],
    topP: body['top_p'] ?? null,
    notices: detail?.events.flatMap((event) => (event.type === 'notice' ? [event.details?.['omitted']] : [])),
  }
}

describe('settings that a model does not accept', () => {
  it.each([
    ...['openai', 'openai-chat', 'openai-compatible'].flatMap((provider) =>
      ['gpt-5', 'gpt-5-mini', 'gpt-5.1', 'o1', 'o3-mini'].map((name) => `${provider}/${name}`),
    ),
    'openai-compatible/openai/gpt-5',
    'anthropic/claude-opus-4-7',
  ])('CORE-SIMPLE-020 %s receives no temperature, as row and spans show, and a notice if one was requested', async (ref) => {
    const none = [null, null, null, null]
    expect(await refused(ref, {})).toEqual({ temperatures: none, topP: null, notices: [] })
    expect(await refused(ref, { temperature: 0.3, topP: 0.5 })).toEqual({
      temperatures: none,
      topP: null,
      notices: [['temperature', 'topP']],
    })
  })

  it.each(['openai/gpt-4o', 'openai-compatible/gpt-4o', 'openai/gpt-5-chat-latest'])(
    'CORE-SIMPLE-020 %s is sent them',
    async (ref) => {
      expect(await refused(ref, {})).toEqual({ temperatures: [0, 0, 0, 0], topP: null, notices: [] })
      expect(await refused(ref, { temperature: 0.3, topP: 0.5 })).toEqual({
        temperatures: [0.3, 0.3, 0.3, 0.3],
        topP: 0.5,
        notices: [],
      })
    },
  )

  it('CORE-SIMPLE-020 depend on whether thinking is requested', async () => {
    const asked = async (ref: string, enableThinking: 'off' | 'low'): Promise<unknown> =>
      (await refused(ref, { temperature: 0.3, enableThinking })).temperatures
    expect(await asked('openai/gpt-5.1', 'off')).toEqual([0.3, 0.3, 0.3, 0.3])
    expect(await asked('openai/gpt-5.1', 'low')).toEqual([null, null, null, null])
    expect(await asked('anthropic/claude-sonnet-4-5', 'off')).toEqual([0.3, 0.3, 0.3, 0.3])
    expect(await asked('anthropic/claude-sonnet-4-5', 'low')).toEqual([null, null, null, null])
  })

  it('CORE-SIMPLE-002 a fixed temperature causes a notice only if another one was requested', async () => {
    const model = (): ScriptedModel => new ScriptedModel(['Yes.'], { facts: { fixedTemperature: 1 } })
    const notices = async (options: BotOptions): Promise<unknown> => {
      const { turnId } = await new SimpleBot({ model: model(), recorder, streamTarget: 'none', ...options }).ask('Hi')
      const detail = await recorder.read.turn(turnId)
      return [detail?.turn.temperature, detail?.events.filter(({ type }) => type === 'notice').length]
    }
    expect(await notices({})).toEqual([1, 0])
    expect(await notices({ temperature: 1 })).toEqual([1, 0])
    expect(await notices({ temperature: 0.5 })).toEqual([1, 1])
  })

  it('CORE-SIMPLE-020 row and span name the model that answered, and its temperature', async () => {
    const first = new ScriptedModel([{ fail: { after: 0, error: new CriaError('model_unavailable', 'Gone.') } }], {
      ref: 'a/first',
    })
    const second = new ScriptedModel(['Yes.'], { ref: 'b/second', facts: { sampling: 'never' } })
    const bot = new SimpleBot({ model: first, fallbackModels: [second], recorder, streamTarget: 'none', temperature: 0.5 })
    const detail = await recorder.read.turn((await bot.ask('Hi')).turnId)
    expect(first.requests[0]?.temperature).toBe(0.5)
    expect(second.requests[0]).not.toHaveProperty('temperature')
    expect(detail?.turn).toMatchObject({ model: 'b/second', temperature: null })
    expect(detail?.spans.find(({ name }) => name === 'simplebot.ask')?.attributes).toMatchObject({
      'gen_ai.request.model': 'b/second',
      'gen_ai.request.temperature': null,
    })
  })
})

describe('options that would have no effect', () => {
  const model = new ScriptedModel([])
  const schema = { type: 'object' }

  it('CORE-SIMPLE-004 CORE-SIMPLE-006 are refused', () => {
    expect(() => new SimpleBot({ model, apiKey: 'k' })).toThrow(/`apiKey` has no effect.*createModel/)
    expect(() => new SimpleBot({ model, schema })).toThrow(/`schema` needs `jsonMode: true`/)
    expect(new SimpleBot({ model, schema, jsonMode: false })).toBeInstanceOf(SimpleBot)
    for (const maxIterations of ['5', Number.NaN, 0, Infinity, null] as unknown as number[])
      expect(() => new AgentBot({ model, maxIterations, tools: [tool('look', () => 'ok')] })).toThrow(
        /`maxIterations` must be a number/,
      )
  })

  it('CORE-SIMPLE-006 apiKey goes to fallback models of the same provider, and to no other', async () => {
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', url)
    vi.stubEnv('OPENAI_COMPATIBLE_API_KEY', 'k-environment')
    vi.stubEnv('ANTHROPIC_BASE_URL', url)
    vi.stubEnv('ANTHROPIC_API_KEY', 'k-anthropic')
    const bot = new SimpleBot({
      model: 'openai-compatible/a',
      fallbackModels: [
        'anthropic/claude-sonnet-4-5',
        'openai-compatible/b',
        createModel('openai-compatible/c', { apiKey: 'k-own' }),
      ],
      apiKey: 'k-bot',
      recorder: false,
      streamTarget: 'none',
      retry: { maxRetries: 0, coolDown: 0 },
    })
    await expect(bot.ask('Hi')).rejects.toMatchObject({ code: 'model_unavailable' })
    expect(keys).toEqual(['Bearer k-bot', 'k-anthropic', 'Bearer k-bot', 'Bearer k-own'])
  })
})

describe('spans', () => {
  it('CORE-SIMPLE-020 carry question, model, temperature and the name of the bot', async () => {
    const outer = async (options: BotOptions): Promise<unknown> => {
      const bot = new SimpleBot({ model: new ScriptedModel(['Yes.']), recorder, streamTarget: 'none', ...options })
      const { turnId } = await bot.ask(['Is it?', user('Really?')])
      return (await recorder.read.turn(turnId))?.spans.find(({ name }) => name === 'simplebot.ask')?.attributes
    }
    const common = { 'cria.query': 'Is it?\nReally?', 'gen_ai.request.model': 'scripted/model' }
    expect(await outer({ name: 'Ada', temperature: 0.5 })).toMatchObject({
      ...common,
      'gen_ai.agent.name': 'Ada',
      'gen_ai.request.temperature': 0.5,
    })
    expect(await outer({})).toMatchObject({ ...common, 'gen_ai.agent.name': 'SimpleBot', 'gen_ai.request.temperature': 0 })
  })
})

describe('composeRagMessages', () => {
  const prose = (at: number): string => Array.from({ length: 120 }, (_, word) => `w${(at * 131 + word * word) % 997}`).join(' ')
  const documents = async (): Promise<MemoryDocumentStore> => {
    const store = new MemoryDocumentStore({ name: 'docs' })
    await store.extend(Array.from({ length: 20 }, (_, at) => ({ source: `${at}.md`, text: `larch ${prose(at)}` })))
    return store
  }
  const ofRequest = (model: ScriptedModel): unknown => rolesAndContents(model.requests.at(-1)?.messages)

  it.each([{ contextWindow: 6000 }, { contextWindow: 6000, systemRole: false }, { structuredOutput: false }])(
    'QRY-RAG-016 is what would be sent to a model with %o',
    async (facts) => {
      const model = new ScriptedModel(() => '{}', { facts })
      const docstore = await documents()
      const memory = new MemoryDocumentStore({ name: 'notes' })
      await memory.append({ source: 'n', text: 'larch is the wood of the sails' })
      const json = { jsonMode: true, schema: { type: 'object' } } as const
      const bot = new QueryBot({
        docstore,
        memory,
        model,
        recorder: false,
        streamTarget: 'none',
        systemPrompt: 'Be exact.',
        ...json,
      })
      const question = [user('Is it larch?'), assistant('Yes.'), user('Which larch?')]
      const { processedMessages, messages } = await bot.composeRagMessages(question)
      await bot.ask(question)
      expect(processedMessages.map(({ role, content }) => [role, content])).toEqual(ofRequest(model))
      expect(messages.at(-1)?.content).toBe('Which larch?')
      const passages = processedMessages.filter(({ content }) => content.startsWith('Passage [')).length
      if (facts.contextWindow === undefined) expect(passages).toBe(21)
      else expect(passages).toBeLessThan(20)
    },
  )

  it.each<[string, MessageInput]>([
    ['text', 'Is it larch?'],
    ['user', user('Is it larch?')],
    ['system', system('Is it larch?')],
    ['developer', developer('Is it larch?')],
    ['assistant', assistant('Is it larch?')],
    ['tool', { role: 'tool', content: 'Is it larch?' }],
    ['retrieved', { role: 'retrieved', content: 'Is it larch?' }],
  ])('QRY-RAG-012 QRY-RAG-015 a question in the role %s is sent as the question of the user', async (_, input) => {
    const model = new ScriptedModel(() => 'Yes. [1]')
    const docstore = await documents()
    const bot = new AsyncQueryBot({ docstore, model, recorder: false, systemPrompt: 'Be exact.' })
    const { processedMessages } = await bot.composeRagMessages(input, 2)
    expect(processedMessages.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'user'])
    expect(processedMessages.at(-1)?.content).toBe('Is it larch?')
    const sent = processedMessages.map(({ role, content }) => [role, content])
    await bot.ask(input, { nResults: 2 })
    expect(ofRequest(model)).toEqual(sent)
    await Array.fromAsync(bot.streamAsync(input, { nResults: 2 }))
    expect(ofRequest(model)).toEqual(sent)
  })

  it('QRY-RAG-013 QRY-RAG-017 counts on the given span, including dropped passages and sent memories', async () => {
    const model = new ScriptedModel(() => 'Yes.', { facts: { contextWindow: 6000 } })
    const memory = new MemoryDocumentStore({ name: 'notes' })
    await memory.append({ source: 'n', text: 'larch sails' })
    const bot = new QueryBot({ docstore: await documents(), memory, model, recorder, streamTarget: 'none' })
    const { turnId } = await bot.ask('larch')
    const attributes = (await recorder.read.turn(turnId))?.spans.find(({ name }) => name === 'querybot.ask')?.attributes ?? {}
    const passages = model.requests[0]?.grounding?.passages ?? []
    const [documentsSent, memoriesSent] = ['docstore', 'memory'].map(
      (from) => passages.filter(({ origin }) => origin === from).length,
    )
    expect(attributes).toMatchObject({
      'cria.retrieval.documents.sent': documentsSent,
      'cria.retrieval.memories.sent': memoriesSent,
      'cria.retrieval.memories.retrieved': 1,
      'cria.retrieval.dropped': 21 - passages.length,
    })
    expect(memoriesSent).toBe(1)
    expect(passages.length).toBeLessThan(21)

    const given: Record<string, unknown> = {}
    const names: string[] = []
    const span = {
      ...fakeSpan(given),
      child: (name: string) => (names.push(name), fakeSpan({})),
    }
    await bot.composeRagMessages('larch', 2, span as never)
    expect(names).toEqual(['retrieval', 'memory_retrieval'])
    expect(given).toMatchObject({ 'cria.retrieval.documents.sent': 2, 'cria.query': 'larch' })
  })

  function fakeSpan(attributes: Record<string, unknown>): object {
    return {
      set: (more: object) => void Object.assign(attributes, more),
      end: () => {},
      fail: () => {},
      run: (work: () => unknown) => work(),
    }
  }
})

describe('mockResponse', () => {
  it('CORE-SIMPLE-006 costs nothing, spends no budget and asks no other model', async () => {
    const price = { input: 1000, output: 1000 }
    const model = new ScriptedModel([], { facts: { price, contextWindow: 100_000, maxOutputTokens: 10, thinking: false } })
    const other = new ScriptedModel(() => 'Real.', { facts: { price, thinking: true } })
    const bot = new SimpleBot({
      model,
      fallbackModels: [other],
      specialist: other,
      enableThinking: true,
      mockResponse: 'As you wish.',
      budget: { session: { costUsd: 1, tokens: 5000 } },
      recorder,
      streamTarget: 'none',
    })
    const answers = []
    for (let at = 0; at < 20; at++)
      answers.push(await bot.ask('A question of some length, again and again. '.repeat(20), { sessionId: 's' }))
    for (const answer of answers)
      expect(answer).toMatchObject({
        content: 'As you wish.',
        costUsd: 0,
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      })
    expect([...model.requests, ...other.requests]).toEqual([])
    expect((await recorder.read.turns()).turns[0]).toMatchObject({ costUsd: 0, usage: { totalTokens: 0 } })
  })
})
