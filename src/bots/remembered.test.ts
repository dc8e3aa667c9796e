/** Memories of bots: saved messages, and how later questions receive them. */

import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { z } from 'zod'
import { openRecorder } from '../app/journal.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { DocumentSource, MemoryStore } from '../core/store.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { ChatMemory } from '../stores/chat-memory.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { defineTool } from '../tools/define-tool.ts'
import { AsyncToolBot, ToolBot } from './tool-bots.ts'
import { QueryBot } from './query-bot.ts'
import { SimpleBot } from './simple-bot.ts'

const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
const weather = defineTool({
  name: 'weather',
  description: 'The weather of a town.',
  inputSchema: z.object({ town: z.string(), days: z.number().default(1) }),
  call: ({ town }) => `Fog in ${town}.`,
})
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { at: { enum: ['sea', 'sky'] } } },
  call: (input) => {
    expectTypeOf(input).toEqualTypeOf<{ at?: 'sea' | 'sky' }>()
    return input.at ?? 'nothing'
  },
})
const quiet = { recorder: false, streamTarget: 'none' } as const

describe('what a bot remembers', () => {
  it('CORE-SIMPLE-011 an answer of calls alone comes back with a result for each call, as providers require', async () => {
    const memory = new ChatMemory()
    const model = new ScriptedModel([{ toolCalls: [{ id: 'c', name: 'weather', input: { town: 'Oslo' } }] }, 'Then not.'])
    const bot = new ToolBot({ ...quiet, model, memory, tools: [weather] })
    await bot.ask('Oslo?')
    await bot.ask('And now?')
    expect(model.requests[1]?.messages.map(({ role, toolCalls }) => [role, toolCalls?.[0]?.name])).toEqual([
      ['user', undefined],
      ['assistant', 'weather'],
      ['tool', undefined],
      ['user', undefined],
    ])
    expect(model.requests[1]?.messages[2]?.parts).toMatchObject([{ type: 'tool-result', id: 'c' }])
  })

  it('CORE-SIMPLE-011 a memory that cannot save the turn costs a warning, not the answer', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const memory = new ChatMemory()
    memory.appendMessage = () => Promise.reject(new Error('The disk is full.'))
    const answer = await new SimpleBot({ ...quiet, model: new ScriptedModel(['Yes.']), memory }).ask('Is it?')
    expect(answer.content).toBe('Yes.')
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^The memory could not save turn turn_\w+: The disk is full\.$/), 'CriaMemoryWarning'],
    ])
    warn.mockRestore()
  })

  it('CORE-SIMPLE-011 results that are appended beside their calls come back unchanged', async () => {
    const memory = new ChatMemory()
    const call = { type: 'tool-call', id: 'c', name: 'look', input: {} } as const
    await memory.append(user('What is there?'), assistant([call]), toolResult({ id: 'c', name: 'look', content: 'A cat.' }))
    await memory.append(assistant('A cat.'))
    const model = new ScriptedModel(['Black.'])
    await new SimpleBot({ ...quiet, model, memory }).ask('Of which colour?')
    expect(rolesAndContents(model.requests[0]?.messages)).toEqual([
      ['user', 'What is there?'],
      ['assistant', ''],
      ['tool', 'A cat.'],
      ['assistant', 'A cat.'],
      ['user', 'Of which colour?'],
    ])
  })

  it('CORE-SIMPLE-011 a question that is only an image comes back as the image', async () => {
    const memory = new ChatMemory()
    const model = new ScriptedModel(['A cat.', 'Black.'])
    const bot = new SimpleBot({ ...quiet, model, memory })
    await bot.ask(user([image]))
    await bot.ask('Of which colour?')
    expect(model.requests[1]?.messages.map(({ role, parts }) => [role, parts[0]])).toEqual([
      ['user', image],
      ['assistant', { type: 'text', text: 'A cat.' }],
      ['user', { type: 'text', text: 'Of which colour?' }],
    ])
  })

  it('CORE-SIMPLE-011 a document store receives text with its role, and no empty message', async () => {
    const kept = async (
      question: Parameters<SimpleBot['ask']>[0],
      ...answers: ConstructorParameters<typeof ScriptedModel>
    ): Promise<unknown> => {
      const memory = new MemoryDocumentStore()
      const given: unknown[] = []
      const append = async (document: Parameters<MemoryStore['append']>[0]): Promise<void> => {
        given.push(document)
        await memory.append(document)
      }
      const store: MemoryStore = { name: 'm', append, retrieve: (query, n) => memory.retrieve(query, n) }
      await new ToolBot({ ...quiet, model: new ScriptedModel(...answers), memory: store, tools: [weather] }).ask(question)
      return given.map((document) => (typeof document === 'object' ? { ...document, source: '' } : document))
    }
    const said = (role: string, text: string): object => ({ source: '', text, metadata: { role } })
    expect(await kept('Oslo?', ['Fog.'])).toEqual([said('user', 'Oslo?'), said('assistant', 'Fog.')])
    expect(await kept(user([image]), [{ toolCalls: [{ name: 'weather', input: { town: 'Oslo' } }] }])).toEqual([
      said('user', '[image/png]'),
      said('assistant', 'Called weather({"town":"Oslo"}).'),
    ])
    const pause = {
      parts: [
        { type: 'opaque', kind: 'x', providerData: {} },
        { type: 'finish', reason: 'stop' },
      ],
    } as const
    expect(await kept('Oslo?', [pause])).toEqual([said('user', 'Oslo?')])
  })

  it('CORE-SIMPLE-010 a document store is searched for the question, and its passages precede it', async () => {
    const memory = new MemoryDocumentStore()
    await memory.append({ source: 'n', text: 'Ada lives in Oslo.' })
    const model = new ScriptedModel(['Oslo.'])
    await new SimpleBot({ ...quiet, model, memory }).ask('Where does Ada live?')
    const sent = model.requests[0]?.messages ?? []
    expect(sent).toHaveLength(2)
    expect(sent[0]?.content).toMatch(/memory of earlier conversations[\s\S]*Ada lives in Oslo/)
    expect((await memory.retrieve('Where does Ada live?', 9)).map(({ text }) => text)).toContain('Where does Ada live?')
  })

  it('QRY-RAG-021 an answer is kept with the time at which it was given', async () => {
    const docstore = new MemoryDocumentStore()
    await docstore.append('The mill was built in 1874.')
    const memory = new MemoryDocumentStore()
    const before = Date.now()
    await new QueryBot({ ...quiet, docstore, memory, model: new ScriptedModel(['It was built in 1874. [1]']) }).ask(
      'When was the mill built?',
    )
    const [kept] = await memory.retrieve('mill built 1874', 1)
    const at = kept?.metadata['at'] as string
    expect(new Date(at).toISOString()).toBe(at)
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  })
})

describe('stores that can do less', () => {
  it('QRY-RAG-001 a name and retrieve() are enough to answer from; append() for a memory, search() for a filter', async () => {
    const whole = new MemoryDocumentStore({ name: 'docs' })
    await whole.append('The mill was built in 1874.')
    const docstore: DocumentSource = { name: 'docs', retrieve: (query, n) => whole.retrieve(query, n) }
    const model = new ScriptedModel(() => 'In 1874. [1]')
    const bot = new QueryBot({ ...quiet, docstore, model })
    expect((await bot.ask('When was the mill built?')).citations).toHaveLength(1)
    await expect(bot.ask('When?', { filter: { source: 'a' } })).rejects.toThrow(/filter needs a store with `search/)
    const filter = { source: 'a' }
    expect(() => new QueryBot({ ...quiet, docstore, model, retrieve: { filter } })).toThrow(/"docs" has only `retrieve\(\)`/)
    expect(() => new QueryBot({ ...quiet, docstore, model, memory: docstore as never })).toThrow(/`memory` must be/)
    expect(() => new SimpleBot({ ...quiet, model, memory: docstore as never })).toThrow(
      /`memory` must be .*, but is an object without the method `append`/,
    )
  })
})

describe('types', () => {
  it('CORE-TOOL-001 calls are parsed by the schema of their tool', async () => {
    const calls = [{ id: 'a', name: 'weather', input: { town: 'Oslo' } }]
    const bot = new ToolBot({ ...quiet, model: new ScriptedModel(() => ({ toolCalls: calls })), tools: [weather] })
    const { toolCalls } = await bot.ask('Oslo?')
    expect(toolCalls.map(({ input }) => input)).toEqual([{ town: 'Oslo', days: 1 }])
    expectTypeOf(toolCalls[0]?.input.days).toEqualTypeOf<number | undefined>()
    const stream = bot.stream('Oslo?')
    expect(await stream.next()).toMatchObject({ done: true, value: { toolCalls: [{ input: { days: 1 } }], invalidCalls: [] } })
    const apart = new AsyncToolBot({ ...quiet, model: new ScriptedModel([{ toolCalls: calls }]), tools: [weather, look] })
    for await (const call of apart.streamAsync('Oslo?')) expect(call.input).toEqual({ town: 'Oslo', days: 1 })
  })

  it.each([
    ['a call without arguments', '{"name":"look"}', [{}]],
    ['an empty string of them', '{"name":"look","arguments":""}', [{}]],
    ['data that has a name', '{"name":"look","colour":"red"}', []],
  ])('CORE-SIMPLE-021 %s in text', async (_, text, inputs) => {
    const bot = new ToolBot({ ...quiet, model: new ScriptedModel([text]), tools: [look] })
    expect((await bot.ask('Look!')).toolCalls.map(({ input }) => input)).toEqual(inputs)
  })

  it.each([null, ''])('CORE-TOOL-001 a call whose input is %j has no arguments', async (input) => {
    const calls = [{ id: 'c', name: 'look', input }]
    const bot = new ToolBot({ ...quiet, model: new ScriptedModel([{ toolCalls: calls }]), tools: [look] })
    expect((await bot.ask('Look!')).toolCalls).toMatchObject([{ input: {} }])
  })

  it('CORE-SIMPLE-020 undefined options count as absent', async () => {
    const recorder = await openRecorder(':memory:')
    const none = { sessionId: undefined, signal: undefined, span: undefined, steering: undefined }
    const bot = new SimpleBot({ model: new ScriptedModel(() => 'Yes.'), recorder, streamTarget: 'none' })
    expect((await bot.ask('Hi', none)).content).toBe('Yes.')
    expect(await Array.fromAsync(bot.stream('Hi', { ...none, recover: undefined, onReset: undefined }))).toEqual(['Yes.'])
    const docstore = new MemoryDocumentStore()
    const rag = new QueryBot({ model: new ScriptedModel(() => 'Yes.'), recorder, streamTarget: 'none', docstore })
    expect((await rag.ask('Hi', { ...none, nResults: undefined, filter: undefined })).content).toBe('Yes.')
    expect(new Set((await recorder.read.turns()).turns.map(({ sessionId }) => sessionId)).size).toBe(3)
    await recorder.close()
  })
})
