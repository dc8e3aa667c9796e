import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { Page } from '../../test/support/page.ts'
import { openRecorder } from '../app/journal.ts'
import { CriaError, NoAssistantMessageError } from '../core/error.ts'
import { user } from '../core/message.ts'
import type { ScoredChunk } from '../core/store.ts'
import { startSpan } from '../engine/span.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { ChatMemory } from '../stores/chat-memory.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { systemClock } from '../util/clock.ts'
import { AsyncSimpleBot, SimpleBot } from './simple-bot.ts'
import { completionOptionsForMessages } from './completion.ts'
import { QueryBot } from './query-bot.ts'

const journal = () => openRecorder(':memory:')

const ESC = '\u001B'

describe('SimpleBot', () => {
  it('CORE-SIMPLE-001 accepts four stream targets, and names them if given another', () => {
    for (const streamTarget of ['stdout', 'panel', 'api', 'none'] as const) {
      expect(new SimpleBot({ model: new ScriptedModel([]), streamTarget }).streamTarget).toBe(streamTarget)
    }
    expect(() => new SimpleBot({ streamTarget: 'printer' as 'none' })).toThrow(/stdout, panel, api, none/)
    const bot = new SimpleBot({ model: new ScriptedModel([]) })
    expect([bot.streamTarget, bot.temperature]).toEqual(['stdout', 0])
  })

  it.each([
    [
      { systemRole: false },
      [
        ['user', 'Be kind.'],
        ['user', 'Hi'],
      ],
      0,
      'stdout',
    ],
    [
      { fixedTemperature: 1 },
      [
        ['system', 'Be kind.'],
        ['user', 'Hi'],
      ],
      1,
      'stdout',
    ],
    [
      { streaming: false },
      [
        ['system', 'Be kind.'],
        ['user', 'Hi'],
      ],
      0,
      'none',
    ],
    [
      { systemRole: false, fixedTemperature: 1, streaming: false },
      [
        ['user', 'Be kind.'],
        ['user', 'Hi'],
      ],
      1,
      'none',
    ],
  ])(
    'CORE-SIMPLE-002 fits the call to a model with %o, each flag with its own effect',
    async (facts, sent, temperature, target) => {
      const model = new ScriptedModel(['Hello.'], { facts })
      const bot = new SimpleBot({ systemPrompt: 'Be kind.', model, recorder: false, output: new Page() })
      expect(bot.streamTarget).toBe(target)
      await bot.ask('Hi')
      expect(rolesAndContents(model.requests[0]?.messages)).toEqual(sent)
      expect(model.requests[0]?.temperature).toBe(temperature)
      expect(model.requests[0]?.stream).toBe(target !== 'none')
    },
  )

  it('CORE-SIMPLE-003 completionOptionsForMessages holds messages and settings, without bookkeeping', () => {
    const schema = { type: 'object', properties: {} }
    const bot = new SimpleBot({
      model: new ScriptedModel([], { facts: { structuredOutput: true } }),
      temperature: 0.5,
      topP: 0.9,
      jsonMode: true,
      schema,
    })
    const history = [
      user('a'),
      { role: 'assistant' as const, parts: [{ type: 'tool-call' as const, id: 'c', name: 'f', input: {} }] },
    ]
    expect(completionOptionsForMessages(bot, history, { stream: true })).toEqual({
      model: 'scripted/model',
      temperature: 0.5,
      topP: 0.9,
      stream: true,
      responseFormat: { type: 'json', schema },
      messages: [
        { role: 'user', content: 'a', parts: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content: '', parts: history[1]?.parts, toolCalls: history[1]?.parts },
      ],
    })
  })

  it('CORE-SIMPLE-004 JSON mode without a schema is refused before any request', () => {
    expect(() => new SimpleBot({ jsonMode: true })).toThrow(/schema/)
    expect(() => new SimpleBot({ jsonMode: true, schema: 'object' as never })).toThrow(/Standard Schema/)
  })

  it('CORE-SIMPLE-005 every target resolves to the finished message; only stdout and panel write', async () => {
    for (const [streamTarget, written] of [
      ['stdout', 'Hello, you.\n'],
      ['panel', 'Hello, you.\n'],
      ['api', ''],
      ['none', ''],
    ] as const) {
      const output = new Page()
      const bot = new SimpleBot({
        model: new ScriptedModel([{ text: ['Hello', ', ', 'you.'] }]),
        streamTarget,
        recorder: false,
        output,
      })
      expect((await bot.ask('Hi')).content).toBe('Hello, you.')
      expect(output.text).toBe(written)
    }
  })

  it('CORE-SIMPLE-005 panel redraws its box as the text grows, and when it is taken back', async () => {
    const output = Object.assign(new Page(), { isTTY: true, columns: 24 })
    const broken = { text: ['Wrong'], fail: { after: 1, error: new CriaError('network', 'Down.') } }
    const model = new ScriptedModel([broken, 'Right, and longer than a line.'])
    await new SimpleBot({ model, streamTarget: 'panel', recorder: false, output, retry: { initialDelay: 0 } }).ask('Hi')
    const frames = output.text.split(new RegExp(`${ESC}\\[\\d+A${ESC}\\[0J`))
    expect(frames.map((frame) => frame.replaceAll(/[╭╮╰╯─│\n ]+/g, ' ').trim())).toEqual([
      'Wrong',
      '',
      'Right, and longer than a line.',
    ])
    expect(frames.at(-1)?.split('\n').slice(0, -1)).toHaveLength(4)
  })

  it('CORE-SIMPLE-006 apiKey overrides the environment, and is in no error, row or span', async () => {
    const keys: unknown[] = []
    const server = createServer((request, response) => {
      keys.push(request.headers.authorization)
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `Incorrect key ${String(request.headers.authorization)}`, type: 'auth' } }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
    vi.stubEnv('OPENAI_COMPATIBLE_API_KEY', 'sk-of-the-environment-0001')
    const recorder = await journal()
    const bot = new SimpleBot({
      model: 'openai-compatible/some-model',
      apiKey: 'sk-canary-7f3a9c5d1e',
      recorder,
      streamTarget: 'none',
    })
    const error: unknown = await bot.ask('Hi').catch((thrown: unknown) => thrown)
    vi.unstubAllEnvs()
    server.close()
    expect(keys).toEqual(['Bearer sk-canary-7f3a9c5d1e'])
    expect(error).toMatchObject({ code: 'auth', status: 401 })
    const [turn] = (await recorder.read.turns()).turns
    const written = inspect([error, bot, await recorder.read.turn(turn?.turnId ?? '')], { depth: 20, showHidden: true })
    expect(written).toContain('Hi')
    expect(written).not.toContain('canary')
  })

  it('CORE-SIMPLE-005 stream yields deltas and returns the message', async () => {
    // Deltas within 10 ms would be joined.
    const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 30))
    const bot = new SimpleBot({ model: new ScriptedModel([{ text: ['a', 'b'], before: wait }]), recorder: false })
    const stream = bot.stream('Hi')
    expect([await stream.next(), await stream.next()]).toEqual([
      { done: false, value: 'a' },
      { done: false, value: 'b' },
    ])
    expect(await stream.next()).toMatchObject({ done: true, value: { content: 'ab' } })
  })

  it('CORE-SIMPLE-006 mockResponse sends no request, and uses the same stream, log and memory path', async () => {
    const model = new ScriptedModel([])
    const memory = new ChatMemory()
    const recorder = await journal()
    const bot = new SimpleBot({ model, mockResponse: 'As you wish.', memory, recorder, streamTarget: 'none' })
    const answer = await bot.ask('Please')
    expect(answer.content).toBe('As you wish.')
    expect(model.requests).toHaveLength(0)
    expect((await memory.retrieve('', 5)).map(({ text, spokenBy }) => [spokenBy, text])).toEqual([
      ['user', 'Please'],
      ['assistant', 'As you wish.'],
    ])
    expect((await recorder.read.turn(answer.turnId))?.turn).toMatchObject({ status: 'done', text: 'As you wish.' })
  })

  it('CORE-SIMPLE-010 CORE-SIMPLE-011 remembers successful turns and puts them before the next question', async () => {
    const model = new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No.') } }, 'Hello, Ada.', 'Ada.'])
    const memory = new ChatMemory()
    const bot = new SimpleBot({ systemPrompt: 'Be kind.', model, memory, recorder: false, streamTarget: 'none' })
    await expect(bot.ask('Lost')).rejects.toMatchObject({ code: 'auth' })
    await bot.ask('I am Ada.')
    await bot.ask(['Who', user('am I?')])
    expect(rolesAndContents(model.requests[2]?.messages)).toEqual([
      ['system', 'Be kind.'],
      ['user', 'I am Ada.'],
      ['assistant', 'Hello, Ada.'],
      ['user', 'Who'],
      ['user', 'am I?'],
    ])
    expect((await bot.composeMessages('Next')).map(({ content }) => content)).toEqual([
      'Be kind.',
      'I am Ada.',
      'Hello, Ada.',
      'am I?',
      'Ada.',
      'Next',
    ])
  })

  it('CORE-SIMPLE-010 sends the conversation of a continued session once, although a memory holds it, too', async () => {
    const model = new ScriptedModel(() => 'Hello, Ada.')
    const bot = new SimpleBot({ model, memory: new ChatMemory(), recorder: await journal(), streamTarget: 'none' })
    for (const question of ['I am Ada.', 'Who am I?']) await bot.ask(question, { sessionId: 's' })
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ada.', 'Hello, Ada.', 'Who am I?'])
  })

  it('CORE-SIMPLE-020 REC-LOG-001 logs the whole turn and its spans', async () => {
    const recorder = await journal()
    const model = new ScriptedModel([{ text: 'Four.', usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } }], {
      facts: { price: { input: 1, output: 2 } },
    })
    const bot = new SimpleBot({
      systemPrompt: 'Count.',
      model,
      name: 'counter',
      recorder,
      streamTarget: 'none',
      temperature: 0.25,
    })
    const answer = await bot.ask('2 + 2?')
    const detail = await recorder.read.turn(answer.turnId)
    expect(detail?.turn).toMatchObject({
      status: 'done',
      bot: { kind: 'SimpleBot', name: 'counter' },
      model: 'scripted/model',
      temperature: 0.25,
      question: '2 + 2?',
      text: 'Four.',
      usage: { totalTokens: 7, exactness: 'exact' },
      costUsd: 9e-6,
      finishReason: 'stop',
      rating: null,
      promptHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(rolesAndContents(detail?.messages)).toEqual([
      ['system', 'Count.'],
      ['user', '2 + 2?'],
      ['assistant', 'Four.'],
    ])
    expect(detail?.events.map(({ type }) => type)).toEqual(['start', 'text_delta', 'usage', 'message', 'complete'])
    const spans = detail?.spans ?? []
    const outer = spans.find(({ name }) => name === 'simplebot.ask')
    const inner = spans.find(({ name }) => name === 'llm_request')
    expect(inner?.parentSpanId).toBe(outer?.spanId)
    expect(outer?.attributes).toMatchObject({ 'gen_ai.request.model': 'scripted/model', 'gen_ai.request.temperature': 0.25 })
  })

  it('CORE-SIMPLE-020 a turn belongs to the given span', async () => {
    const recorder = await journal()
    const bot = new SimpleBot({ model: new ScriptedModel(() => 'Yes.'), recorder, streamTarget: 'none' })
    const outer = startSpan('work', { clock: systemClock, sink: (span) => void recorder.span(span) })
    const { turnId } = await bot.ask('Hi', { span: outer })
    outer.end()
    const detail = await recorder.read.turn(turnId)
    const own = detail?.spans.find(({ name }) => name === 'simplebot.ask')
    expect(own).toMatchObject({ traceId: outer.traceId, parentSpanId: outer.spanId })
    expect(detail?.turn.traceId).toBe(outer.traceId)
  })

  it('CORE-SIMPLE-020 errors name their turn, even if it was aborted', async () => {
    const recorder = await journal()
    const failing = new SimpleBot({
      model: new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No.') } }, { hang: { after: 0 } }]),
      recorder,
      streamTarget: 'none',
    })
    const leaving = new AbortController()
    const failed = await failing.ask('a').catch((error: unknown) => error)
    const asked = failing.ask('b', { signal: leaving.signal }).catch((error: unknown) => error)
    leaving.abort()
    const { turns } = await (await asked, recorder.read.turns())
    expect([await asked, failed]).toMatchObject(turns.map(({ turnId }) => ({ details: { turnId } })))
  })

  it('CORE-SIMPLE-004 a schema is sent with jsonMode, and not without it', async () => {
    const schema = { type: 'object' }
    const format = async (jsonMode: boolean): Promise<unknown> => {
      const model = new ScriptedModel(['{}'], { facts: { structuredOutput: true } })
      await new SimpleBot({ model, schema, jsonMode, recorder: false, streamTarget: 'none' }).ask('Hi')
      return model.requests[0]?.responseFormat
    }
    expect([await format(true), await format(false)]).toEqual([{ type: 'json', schema }, undefined])
  })

  it('CORE-SIMPLE-001 looks for the default model again after it could not be created', async () => {
    vi.stubEnv('CRIA_MODEL', 'no-such-provider/model')
    const bot = new SimpleBot({ recorder: false, streamTarget: 'none' })
    await expect(bot.ask('Who?')).rejects.toMatchObject({ code: 'configuration' })
    vi.stubEnv('CRIA_MODEL', 'builtin/extractive')
    expect(await bot.model()).toMatchObject({ ref: 'builtin/extractive' })
    vi.unstubAllEnvs()
  })

  it('CORE-SIMPLE-025 a recorder of false records nothing and changes no result', async () => {
    const ask = async (recorder: Awaited<ReturnType<typeof journal>> | false) => {
      const { content, citations, finishReason, usage } = await new SimpleBot({
        model: new ScriptedModel(['Same.']),
        recorder,
        streamTarget: 'none',
      }).ask('Hi')
      return { content, citations, finishReason, usage }
    }
    expect(await ask(false)).toEqual(await ask(await journal()))
  })
})

describe('AsyncSimpleBot', () => {
  it('CORE-SIMPLE-030 streams tokens, and abandoning it leaves a cancelled turn with its text', async () => {
    const recorder = await journal()
    const model = new ScriptedModel([{ text: ['one ', 'two ', 'three'], hang: { after: 2 } }])
    const bot = new AsyncSimpleBot({ model, recorder })
    for await (const delta of bot.streamAsync('Count')) if (delta.includes('two')) break
    expect(model.open).toBe(0)
    const { turns } = await recorder.read.turns()
    expect(turns).toMatchObject([{ status: 'cancelled', question: 'Count', usage: { exactness: 'estimated' } }])
    expect((await recorder.read.turn(turns[0]?.turnId ?? ''))?.turn.text).toBe('one two ')
  })

  it('CORE-SIMPLE-030 rejects when no assistant message comes', async () => {
    const bot = new AsyncSimpleBot({
      model: new ScriptedModel(() => ({ parts: [{ type: 'finish', reason: 'stop' }] })),
      recorder: false,
      retry: { maxRetries: 0 },
    })
    await expect(bot.ask('Hi')).rejects.toMatchObject({ code: 'no_assistant_message' })
    await expect(bot.ask('Hi')).rejects.toBeInstanceOf(NoAssistantMessageError)
  })

  it('CORE-SIMPLE-024 bots inherit from each other', () => {
    const model = new ScriptedModel([])
    expect(new AsyncSimpleBot({ model })).toBeInstanceOf(SimpleBot)
    expect(new QueryBot({ model, docstore: new MemoryDocumentStore() })).toBeInstanceOf(SimpleBot)
  })
})

describe('QueryBot', () => {
  const documents = async (): Promise<MemoryDocumentStore> => {
    const store = new MemoryDocumentStore({ name: 'mills' })
    await store.extend([
      { source: 'mill.md', text: 'The mill was built in 1874 beside the river.' },
      { source: 'bakery.md', text: 'The bakery buys its flour from the mill.' },
    ])
    return store
  }

  it('QRY-RAG-001 needs a document store', () => {
    expect(() => new QueryBot({ model: new ScriptedModel([]) } as never)).toThrow(/docstore/)
  })

  it('QRY-RAG-020 QRY-RAG-022 answers from documents, cites, and logs what was composed', async () => {
    const recorder = await journal()
    const model = new ScriptedModel((request) => {
      const found = request.grounding?.passages.find(({ chunk }) => chunk.source === 'mill.md')
      return `The mill was built in 1874 beside the river. [${found?.marker}]`
    })
    const bot = new QueryBot({ systemPrompt: 'Be exact.', docstore: await documents(), model, recorder, streamTarget: 'none' })
    const answer = await bot.ask('When was the mill built?', { nResults: 2 })
    expect(answer.citations).toMatchObject([
      { source: 'mill.md', start: 0, end: 44, quote: 'The mill was built in 1874 beside the river.', supported: true },
    ])
    expect(answer.abstained).toBe(false)

    const sent = model.requests[0]?.messages ?? []
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'user'])
    expect(sent.at(-1)?.content).toBe('When was the mill built?')
    const detail = await recorder.read.turn(answer.turnId)
    expect(detail?.messages.map(({ role }) => role)).toEqual(['system', 'retrieved', 'retrieved', 'user', 'assistant'])
    expect(detail?.events.map(({ type }) => type)).toEqual(['start', 'retrieval', 'text_delta', 'usage', 'message', 'complete'])
    expect(detail?.events[1]).toMatchObject({
      store: 'mills',
      query: 'When was the mill built?',
      chunks: [{ source: 'mill.md' }, { source: 'bakery.md' }],
    })
  })

  it('QRY-RAG-002 QRY-RAG-011 QRY-RAG-021 searches a second store, labels it, and appends each answer to it', async () => {
    const memory = new MemoryDocumentStore({ name: 'notes' })
    const model = new ScriptedModel(() => 'The mill dates from 1874. [1]')
    const bot = new QueryBot({ docstore: await documents(), memory, model, recorder: false, streamTarget: 'none' })
    const first = await bot.ask('When was the mill built?')
    const [kept] = await memory.retrieve('mill 1874', 5)
    expect(kept).toMatchObject({
      text: 'The mill dates from 1874. [1]',
      metadata: { question: 'When was the mill built?', sources: [first.citations?.[0]?.chunkId] },
    })
    await bot.ask('How old is the mill?')
    const passages = model.requests[1]?.grounding?.passages ?? []
    expect(passages.map(({ origin }) => origin)).toEqual(['docstore', 'docstore', 'memory'])
    expect(model.requests[1]?.messages.at(-2)?.content).toMatch(/memory of earlier conversations/)
  })

  it('QRY-RAG-010 QRY-RAG-013 QRY-RAG-017 asks each store once and counts on the spans', async () => {
    const recorder = await journal()
    const calls: [string, number][] = []
    const store = await documents()
    const docstore = Object.create(store, {
      retrieve: {
        value: (query: string, n: number): Promise<ScoredChunk[]> => (calls.push([query, n]), store.retrieve(query, n)),
      },
    })
    const bot = new QueryBot({
      docstore,
      memory: new MemoryDocumentStore(),
      model: new ScriptedModel(['Yes. [1]']),
      recorder,
      streamTarget: 'none',
    })
    const { turnId } = await bot.ask('Is there a mill?', { nResults: 7 })
    expect(calls).toEqual([['Is there a mill?', 7]])
    const spans = (await recorder.read.turn(turnId))?.spans ?? []
    expect(spans.map(({ name }) => name).sort()).toEqual(['llm_request', 'memory_retrieval', 'querybot.ask', 'retrieval'])
    expect(spans.find(({ name }) => name === 'querybot.ask')?.attributes).toMatchObject({
      'cria.query': 'Is there a mill?',
      'cria.retrieval.n_results': 7,
      'cria.retrieval.documents.retrieved': 2,
      'cria.retrieval.documents.sent': 2,
      'cria.retrieval.memories.retrieved': 0,
      'gen_ai.request.temperature': 0,
      'gen_ai.request.model': 'scripted/model',
    })
    expect(spans.find(({ name }) => name === 'retrieval')?.attributes).toMatchObject({ 'cria.retrieval.documents.retrieved': 2 })
  })

  it('QRY-RAG-015 takes a string or any message with text, with the same result', async () => {
    const bot = new QueryBot({
      systemPrompt: 's',
      docstore: await documents(),
      model: new ScriptedModel(() => 'Yes. [1]'),
      recorder: false,
      streamTarget: 'none',
    })
    const shape = async (input: Parameters<QueryBot['composeRagMessages']>[0]) =>
      (await bot.composeRagMessages(input, 2)).processedMessages.map(({ role, content }) => [role, content])
    expect(await shape('Is there a mill?')).toEqual(await shape(user('Is there a mill?')))
    expect((await shape('Is there a mill?')).at(-1)).toEqual(['user', 'Is there a mill?'])
    expect((await bot.ask(user('Is there a mill?'))).content).toBe((await bot.ask('Is there a mill?')).content)
  })

  it.each([
    'The documents do not contain the answer to this question.',
    'The documents do not contain the answer to this question',
    '**The documents do not contain the answer to this question.**',
    'I am sorry, but the documents do not contain\nthe answer to this question.',
  ])('QRY-RAG-022 says that the documents do not hold the answer when the model says so: %j', async (said) => {
    const model = new ScriptedModel([said])
    const answer = await new QueryBot({ docstore: await documents(), model, recorder: false, streamTarget: 'none' }).ask(
      'Who was the miller?',
    )
    expect(answer).toMatchObject({ abstained: true, citations: [] })
  })

  it('QRY-RAG-022 informs the model that nothing was found, and flags citations it makes anyway', async () => {
    const model = new ScriptedModel(['Lima is the capital [1]. Ten million people live there [7].'])
    const docstore = new MemoryDocumentStore()
    const bot = new QueryBot({ docstore, model, recorder: false, streamTarget: 'none' })
    const answer = await bot.ask('What is the capital of Peru?')
    expect(answer.citations).toMatchObject([
      { marker: '1', kind: 'no-passage', verdict: 'contradicted', supported: false, quote: '' },
      { marker: '7', kind: 'no-passage', verdict: 'contradicted', supported: false, quote: '' },
    ])
    expect(answer.abstained).toBe(false)
    expect(model.requests[0]?.messages[0]?.content).toMatch(/There are no passages for this question\.$/)
  })

  it('QRY-RAG-021 does not remember that the documents held no answer', async () => {
    const memory = new MemoryDocumentStore()
    const model = new ScriptedModel(['The documents do not contain the answer to this question.'])
    await new QueryBot({ docstore: await documents(), memory, model, recorder: false, streamTarget: 'none' }).ask(
      'Who was the miller?',
    )
    expect(await memory.retrieve('documents answer question', 5)).toEqual([])
  })
})
