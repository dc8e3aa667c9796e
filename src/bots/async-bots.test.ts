import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { watchThreads } from '../../test/support/threads.ts'
import type { WatchedThreads } from '../../test/support/threads.ts'
import { openRecorder } from '../app/journal.ts'
import type { ModelRequest } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { ChatMemory } from '../stores/chat-memory.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { SqliteDocumentStore } from '../stores/sqlite.ts'
import { AsyncQueryBot } from './async-query-bot.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryBotOptions } from './query-bot.ts'
import { SimpleBot } from './simple-bot.ts'

let folder: string
let docstore: SqliteDocumentStore
let stores: SqliteDocumentStore[]
let threads: WatchedThreads

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cria-async-query-bot-'))
  stores = []
  docstore = await open('mills')
  await docstore.extend([
    { source: 'mill.md', text: 'The mill was built in 1874 beside the river.' },
    { source: 'bakery.md', text: 'The bakery buys its flour from the mill.' },
  ])
  threads = watchThreads()
})

afterEach(async () => {
  threads[Symbol.dispose]()
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true })
})

async function open(name: string): Promise<SqliteDocumentStore> {
  const store = await SqliteDocumentStore.open({ path: join(folder, `${stores.length}.db`), name })
  stores.push(store)
  return store
}

async function openMemory(): Promise<SqliteDocumentStore> {
  const store = await open('notes')
  await store.append({ source: 'turn:1', text: 'The mill is closed on Mondays.' })
  return store
}

const answering = (): ScriptedModel =>
  new ScriptedModel(() => ({ text: ['The mill was built in 1874', ' beside the river. [1]'] }))
const options = (model: ScriptedModel): QueryBotOptions => ({ systemPrompt: 'Be exact.', docstore, model, recorder: false })

/** Number of rounds of the event loop before the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let next: NodeJS.Immediate
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  next = setImmediate(count)
  await work.finally(() => clearImmediate(next))
  return turns
}

describe('AsyncQueryBot', () => {
  it('CORE-SIMPLE-024 is a QueryBot that writes nowhere', () => {
    const bot = new AsyncQueryBot(options(answering()))
    expect(bot).toBeInstanceOf(QueryBot)
    expect(bot).toBeInstanceOf(SimpleBot)
    expect(bot.streamTarget).toBe('api')
    expect(bot.docstore).toBe(docstore)
    expect(() => new AsyncQueryBot({ model: answering() } as never)).toThrow(/docstore/)
  })

  it('QRY-RAG-030 returns the result of QueryBot, with searches in threads', async () => {
    const search = vi.spyOn(SqliteDocumentStore.prototype, 'search')
    const result = async (Bot: typeof QueryBot): Promise<object> => {
      const model = answering()
      const bot = new Bot({ ...options(model), streamTarget: 'api', memory: await openMemory() })
      const composed = await bot.composeRagMessages('When was the mill built?', 2)
      const { content, citations, abstained, finishReason, usage } = await bot.ask('When was the mill built?', { nResults: 2 })
      const said = composed.processedMessages.map(({ role, content }) => [role, content])
      return { content, citations, abstained, finishReason, usage, request: withoutIds(model.requests[0]), said }
    }
    const own = await result(QueryBot)
    expect(threads.started).toHaveLength(0)
    const searches = search.mock.calls.length
    expect(await result(AsyncQueryBot)).toEqual(own)

    expect(search).toHaveBeenCalledTimes(searches)
    expect(threads.started.map(({ messages }) => messages.length)).toEqual([2, 2])
    expect(threads.started[0]?.messages[0]).toEqual({ chunks: await docstore.retrieve('When was the mill built?', 2) })
  })

  it('QRY-RAG-030 does not block the event loop during a search, and one thread serves all bots of a store', async () => {
    const [here, there] = [new QueryBot(options(answering())), new AsyncQueryBot(options(answering()))]
    expect(await turnsDuring(here.composeRagMessages('mill'))).toBe(0)
    expect(await turnsDuring(there.composeRagMessages('mill'))).toBeGreaterThan(0)
    const bots = Array.from({ length: 5 }, () => new AsyncQueryBot(options(answering())))
    await Promise.all(bots.map((bot) => bot.ask('When was the mill built?')))
    expect(threads.started).toHaveLength(1)
  })

  it('QRY-RAG-001 QRY-RAG-030 searches a store in its own thread if no other thread can read it', async () => {
    const inProcess = new MemoryDocumentStore()
    await inProcess.append('The mill was built in 1874.')
    const retrieve = vi.fn<QueryBot['docstore']['retrieve']>(() => docstore.search('flour'))
    const own = Object.assign(await open('own'), { retrieve })
    const pages = await SqliteDocumentStore.open({ path: ':memory:' })
    const memory = new ChatMemory()
    for (const store of [inProcess, own, pages]) {
      await new AsyncQueryBot({ ...options(answering()), docstore: store, memory }).ask('When was the mill built?')
      await store.close()
    }
    expect(retrieve).toHaveBeenCalledTimes(1)
    expect(threads.started).toHaveLength(0)
    expect(await memory.retrieve('', 5)).toHaveLength(3)
  })

  it('QRY-RAG-031 streams, traces as QueryBot does, then logs the turn and remembers the answer', async () => {
    const recorder = await openRecorder(':memory:')
    const wait = async (): Promise<void> => {
      // Deltas within 10 ms would be joined.
      await sleep(30)
    }
    const model = (): ScriptedModel => new ScriptedModel([{ text: ['The mill dates ', 'from 1874. [1]'], before: wait }])
    const question = 'When was the mill built?'
    const ask = { nResults: 2 }
    const here = new QueryBot({ ...options(model()), memory: await openMemory(), recorder, streamTarget: 'api' })
    const { turnId: expectedId } = await here.ask(question, ask)

    const memory = await openMemory()
    const bot = new AsyncQueryBot({ ...options(model()), memory, recorder, name: 'guide' })
    const stream = bot.streamAsync(question, ask)
    const deltas: string[] = []
    let next = await stream.next()
    for (; next.done !== true; next = await stream.next()) deltas.push(next.value)
    expect(deltas).toEqual(['The mill dates ', 'from 1874. [1]'])
    expect(next.value).toMatchObject({ content: 'The mill dates from 1874. [1]', citations: [{ source: 'mill.md' }] })

    const [expected, detail] = [await recorder.read.turn(expectedId), await recorder.read.turn(next.value.turnId)]
    expect(detail?.turn).toMatchObject({
      status: 'done',
      bot: { kind: 'AsyncQueryBot', name: 'guide' },
      text: next.value.content,
    })
    expect(rolesAndContents(detail?.messages)).toEqual(rolesAndContents(expected?.messages))
    const shape = (of: typeof detail): unknown =>
      of?.spans
        .map(({ name, parentSpanId, attributes }) => ({
          name,
          parent: of.spans.find(({ spanId }) => spanId === parentSpanId)?.name,
          attributes: Object.keys(attributes).toSorted(),
          documents: attributes['cria.retrieval.documents.retrieved'],
          memories: attributes['cria.retrieval.memories.retrieved'],
        }))
        .toSorted((a, b) => a.name.localeCompare(b.name))
    expect(new Set(detail?.spans.map(({ name }) => name))).toEqual(
      new Set(['querybot.ask', 'retrieval', 'memory_retrieval', 'llm_request']),
    )
    expect(shape(detail)).toEqual(shape(expected))
    expect(await memory.retrieve('dates from 1874', 1)).toMatchObject([
      { source: `turn:${next.value.turnId}`, metadata: { question } },
    ])
    await recorder.close()
  })

  it('CORE-SIMPLE-030 QRY-RAG-031 leaving the stream cancels the turn and remembers nothing', async () => {
    const recorder = await openRecorder(':memory:')
    const model = new ScriptedModel([{ text: ['one ', 'two ', 'three'], hang: { after: 2 } }])
    const memory = await openMemory()
    const bot = new AsyncQueryBot({ ...options(model), memory, recorder })
    for await (const delta of bot.streamAsync('Is there a mill?')) if (delta.includes('two')) break
    expect(model.open).toBe(0)
    const { turns } = await recorder.read.turns()
    expect(turns).toMatchObject([{ status: 'cancelled', usage: { exactness: 'estimated' } }])
    expect((await recorder.read.turn(turns[0]?.turnId ?? ''))?.turn.text).toBe('one two ')
    expect(await memory.retrieve('one two', 5)).toEqual([])
    await recorder.close()
  })

  it('CORE-SIMPLE-030 rejects without a message, after an abort, and if the store is closed', async () => {
    const silent = new ScriptedModel(() => ({ parts: [{ type: 'finish', reason: 'stop' }] }))
    const bot = new AsyncQueryBot({ ...options(silent), retry: { maxRetries: 0 } })
    await expect(bot.ask('Is there a mill?')).rejects.toMatchObject({ code: 'no_assistant_message' })

    const model = answering()
    const other = new AsyncQueryBot(options(model))
    const leaving = new AbortController()
    const asked = other.ask('Is there a mill?', { signal: leaving.signal })
    leaving.abort(new Error('enough'))
    await expect(asked).rejects.toMatchObject({ code: 'aborted' })
    await docstore.close()
    await expect(other.ask('Is there a mill?')).rejects.toMatchObject({ code: 'store_failed' })
    expect(model.requests).toEqual([])
  })
})

function withoutIds(request: ModelRequest | undefined): unknown {
  return JSON.parse(JSON.stringify(request, (key, value: unknown) => (key === 'id' ? undefined : value)))
}
