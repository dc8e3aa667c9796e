import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRecorder } from '../app/journal.ts'
import { query } from '../app/query.ts'
import type { QueryEvent } from '../core/event.ts'
import type { RerankingModel } from '../core/retrieval-models.ts'
import type { DocumentStore } from '../core/store.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { createExtractiveModel } from '../providers/extractive/model.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { SqliteDocumentStore } from '../stores/sqlite.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryBotOptions } from './query-bot.ts'

let docstore: SqliteDocumentStore

beforeEach(async () => {
  docstore = await SqliteDocumentStore.open({ path: ':memory:' })
})

afterEach(() => docstore.close())

const silent = (answer = 'Yes.'): ScriptedModel => new ScriptedModel(() => answer)
const botWith = (model: QueryBotOptions['model'], more: Partial<QueryBotOptions> = {}): QueryBot =>
  new QueryBot({ docstore, recorder: false, streamTarget: 'api', ...(model === undefined ? {} : { model }), ...more })

async function eventsOf(events: AsyncIterable<QueryEvent>): Promise<QueryEvent[]> {
  return await Array.fromAsync(events)
}
const retrieval = (events: readonly QueryEvent[]) => events.filter((event) => event.type === 'retrieval')
const notices = (events: readonly QueryEvent[]) => events.flatMap((event) => (event.type === 'notice' ? event.code : []))
const sentTo = ({ requests }: ScriptedModel): string[] =>
  requests.at(-1)?.messages.flatMap(({ content }) => (content.startsWith('Passage [') ? content : [])) ?? []

describe('filters', () => {
  beforeEach(async () => {
    await docstore.extend([
      { source: 'docs/mill.md', text: 'The mill was built in 1874.', metadata: { tenant: 'a' } },
      { source: 'docs/old/mill.md', text: 'The mill was built in 1784.', metadata: { tenant: 'b' } },
      { source: 'notes/mill.txt', text: 'The mill was built by Ada.', metadata: { tenant: 'a' } },
    ])
  })

  it('limit a question to some documents, and a question cannot lift a filter of the bot', async () => {
    const model = silent()
    const bot = botWith(model, { retrieve: { filter: { tenant: 'a' } } })
    const asked = async (filter?: Record<string, string | { glob: string }>): Promise<string[]> =>
      retrieval(await eventsOf(bot.events('mill', filter === undefined ? {} : { filter })))[0]
        ?.chunks.map(({ source }) => source)
        .sort() ?? []
    expect(await asked()).toEqual(['docs/mill.md', 'notes/mill.txt'])
    expect(await asked({ source: { glob: 'docs/**' } })).toEqual(['docs/mill.md'])
    expect(await asked({ tenant: 'b' })).toEqual(['docs/mill.md', 'notes/mill.txt'])
    expect(await asked({ "x') OR 1=1 --": "' OR 1=1 --" })).toEqual([])
    expect(await asked()).toHaveLength(2)
    const { messages } = await bot.composeRagMessages('mill')
    expect(messages.flatMap(({ retrieved }) => retrieved?.chunk.source ?? []).sort()).toEqual(['docs/mill.md', 'notes/mill.txt'])
  })

  it('apply to documents only: memories are found in any case', async () => {
    const memory = new MemoryDocumentStore()
    await memory.append({ source: 'm1', text: 'The mill is closed on Mondays.' })
    const asked = { prompt: 'mill', model: silent(), recorder: await openRecorder(':memory:') }
    for (const stores of [{ memory }, { memory, docstore }]) {
      const events = await eventsOf(query({ ...asked, retrieve: { ...stores, filter: { tenant: 'b' } } }))
      const found = retrieval(events).flatMap((event) => event.chunks.map(({ source }) => source))
      expect(found.toSorted()).toEqual('docstore' in stores ? ['docs/old/mill.md', 'm1'] : ['m1'])
    }
  })

  it('are checked before any request', () => {
    const wrong = (retrieve: object): unknown => query({ prompt: 'x', model: silent(), retrieve: { docstore, ...retrieve } })
    expect(() => wrong({ filter: 'docs' })).toThrow(/filter must be an object/i)
    expect(() => wrong({ filter: { year: {} } })).toThrow(/year/)
    expect(() => wrong({ rerank: {} })).toThrow(/reranking model/)
    expect(() => wrong({ rerank: { model: {} } })).toThrow(/reranking model/)
    expect(() => wrong({ widen: { within: 'chapter' } })).toThrow(/section, document/)
    expect(() => wrong({ followUps: 'yes' })).toThrow(/words, model, off/)
    expect(() => wrong({ fliter: {} })).toThrow(/filter/)
    expect(() => botWith(silent(), { retrieve: { filter: [] as never } })).toThrow(/filter/)
    expect(() => botWith(silent(), { retrieve: null as never })).not.toThrow()
  })
})

describe('follow-up questions', () => {
  beforeEach(async () => {
    await docstore.extend([
      { source: 'mill.md', text: 'The windmill of Bruges was built in 1874. The windmill of Bruges belongs to the widow Adams.' },
      { source: 'bakery.md', text: 'The bakery belongs to the Brown family since 1790.' },
    ])
  })

  it.each([
    ['words', 'Whom does it belong to? windmill Bruges built', 'words'],
    ['off', 'Whom does it belong to?', 'off'],
  ] as const)('are searched with the words of the conversation that they refer to: %s', async (_, query, followUps) => {
    const recorder = await openRecorder(':memory:')
    const bot = botWith(createExtractiveModel(), { recorder, retrieve: { followUps } })
    const first = await bot.ask('When was the windmill in Bruges built?')
    expect(first.content).toContain('1874')
    const events = await eventsOf(bot.events('Whom does it belong to?', { sessionId: first.sessionId }))
    expect(retrieval(events)[0]?.query).toBe(query)
    const last = events.at(-1)
    if (followUps === 'words')
      expect(last).toMatchObject({ type: 'complete', result: { abstained: false, text: expect.stringContaining('widow Adams') } })
    const asked = await eventsOf(bot.events('Which bakery belongs to the Brown family?', { sessionId: first.sessionId }))
    expect(retrieval(asked)[0]?.query).toBe('Which bakery belongs to the Brown family?')
    await recorder.close()
  })

  it('are rewritten by a model on request, and by words if it fails', async () => {
    const answers = ['In 1874.', 'Who owns the windmill of Bruges?\nIgnored.', 'The widow.', new Error('overloaded'), 'Yes.']
    const model = new ScriptedModel((_, call) => {
      const answer = answers[call]
      if (answer instanceof Error) return { fail: { after: 0, error: answer } }
      return answer ?? 'Nothing.'
    })
    const recorder = await openRecorder(':memory:')
    const bot = botWith(model, { recorder, retrieve: { followUps: 'model' }, retry: { maxRetries: 0 } })
    const first = await bot.ask('When was the windmill in Bruges built?')
    const second = await eventsOf(bot.events('Who owns it?', { sessionId: first.sessionId }))
    expect(retrieval(second)[0]?.query).toBe('Who owns the windmill of Bruges?')
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('"question": "Who owns it?"')
    expect(model.requests[2]?.messages.at(-1)?.content).toBe('Who owns it?')
    expect(second.at(-1)).toMatchObject({ type: 'complete', result: { text: 'The widow.' } })
    const third = await eventsOf(bot.events('Since when?', { sessionId: first.sessionId }))
    expect(notices(third)).toContain('rewrite_failed')
    expect(retrieval(third)[0]?.query).toBe('Since when? windmill Bruges built owns')
    await recorder.close()
  })
})

describe('ranking by a model', () => {
  const TEXTS = ['The mill was built in 1874.', 'The mill was sold.', 'The mill mill mill.', 'The mill burnt in 1900.']
  beforeEach(async () => {
    await docstore.extend(TEXTS.map((text, at) => ({ source: `${at}.md`, title: `Part ${at}`, text })))
  })
  const ranking = (
    by: (texts: readonly string[]) => { index: number; score: number }[],
  ): RerankingModel & { seen: string[][] } => {
    const seen: string[][] = []
    return {
      ref: 'test/ranker',
      seen,
      rerank: (_, texts) => {
        seen.push([...texts])
        return Promise.resolve({ ranking: by(texts), responseId: 'r1' })
      },
    }
  }
  const sources = (events: readonly QueryEvent[]): string[] => retrieval(events)[0]?.chunks.map(({ source }) => source) ?? []

  it('takes the best of more candidates, in its order', async () => {
    const model = silent()
    const ranker = ranking((texts) =>
      texts.map((text, index) => ({ index, score: text.includes('burnt') ? 0.9 : text.includes('sold') ? 0.5 : 0.1 })),
    )
    const recorder = await openRecorder(':memory:')
    const bot = botWith(model, { recorder, retrieve: { rerank: { model: ranker, candidates: 10 } } })
    const events = await eventsOf(bot.events('mill', { nResults: 2 }))
    expect(sources(events)).toEqual(['3.md', '1.md'])
    expect(ranker.seen[0]).toHaveLength(4)
    expect(ranker.seen[0]?.[0]).toMatch(/^Part \d\nThe mill/)
    expect(sentTo(model).map((text) => text.slice(0, 11))).toEqual(['Passage [1]', 'Passage [2]'])
    expect(sentTo(model)[0]).toContain('burnt')
    const { spans = [] } = (await recorder.read.turn(events[0]?.turnId ?? '')) ?? {}
    expect(spans.find(({ name }) => name === 'rerank')?.attributes).toMatchObject({
      'gen_ai.request.model': 'test/ranker',
      'cria.retrieval.candidates': 4,
      'gen_ai.response.id': 'r1',
    })
    await recorder.close()
  })

  it('calls an AI SDK model with the names of the AI SDK', async () => {
    const calls: unknown[] = []
    const ranker = {
      specificationVersion: 'v4',
      provider: 'cohere.reranking',
      modelId: 'rerank-v3.5',
      doRerank: (options: { topN: number; documents: { values: string[] } }) => {
        calls.push(options)
        return Promise.resolve({ ranking: [{ index: 2, relevanceScore: 0.8 }], response: { id: 'x', modelId: 'rerank' } })
      },
    }
    const events = await eventsOf(botWith(silent(), { retrieve: { rerank: { model: ranker } } }).events('mill', { nResults: 3 }))
    expect(calls).toEqual([
      { query: 'mill', topN: 3, documents: { type: 'text', values: expect.any(Array) }, abortSignal: expect.any(AbortSignal) },
    ])
    // Chunks that the model does not rank follow in the order of the store.
    const before = sources(await eventsOf(botWith(silent()).events('mill')))
    expect(sources(events)).toEqual([before[2], before[0], before[1]])
  })

  it.each<[string, RerankingModel['rerank']]>([
    ['throws', () => Promise.reject(new Error('overloaded'))],
    [
      'throws at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['ranks nothing', () => Promise.resolve({ ranking: [] })],
    ['ranks what is not there', () => Promise.resolve({ ranking: [{ index: 99, score: 1 }] })],
    [
      'ranks one twice',
      () =>
        Promise.resolve({
          ranking: [
            { index: 0, score: 1 },
            { index: 0, score: 2 },
          ],
        }),
    ],
    ['gives no numbers', () => Promise.resolve({ ranking: [{ index: 0, score: Number.NaN }] })],
    ['gives no ranking', () => Promise.resolve(undefined as never)],
    ['never answers', () => new Promise(() => {})],
  ])('a model that %s leaves the order of the store, with a notice', async (_, rerank) => {
    const before = sources(await eventsOf(botWith(silent()).events('mill', { nResults: 3 })))
    const model = silent()
    const bot = botWith(model, { retrieve: { rerank: { model: { ref: 'test/ranker', rerank }, timeout: 50 } } })
    const events = await eventsOf(bot.events('mill', { nResults: 3 }))
    expect(sources(events)).toEqual(before)
    expect(notices(events)).toEqual(['rerank_failed'])
    expect(events.at(-1)?.type).toBe('complete')
  })

  it('an abort reaches the model', async () => {
    const abort = new AbortController()
    let heard = false
    const rerank: RerankingModel['rerank'] = (_, __, { signal }) => {
      signal.addEventListener('abort', () => {
        heard = true
      })
      abort.abort(new Error('enough'))
      return new Promise(() => {})
    }
    const model = silent()
    const bot = botWith(model, { retrieve: { rerank: { model: { ref: 'test/ranker', rerank } } } })
    const events = await eventsOf(bot.events('mill', { signal: abort.signal }))
    expect(events.at(-1)?.type).toBe('cancelled')
    expect([heard, model.requests.length]).toEqual([true, 0])
  })
})

describe('the text around a passage', () => {
  const sections = ['Wheels', 'Sails', 'Stones'].map(
    (name) =>
      `## ${name}\n\n${Array.from({ length: 6 }, (_, at) => `${name} paragraph ${at}. ${`About ${name.toLowerCase()} there is much to say. `.repeat(25)}${at === 2 ? `The ${name.toLowerCase()} were made of larch.` : ''}`).join('\n\n')}`,
  )
  const text = `# Mills\n\n${sections.join('\n\n')}\n`
  beforeEach(async () => {
    await docstore.extend([
      { source: 'mills.md', format: 'markdown', text },
      { source: 'copy.txt', text: 'Birch is a wood.' },
    ])
  })
  const asked = async (model: ScriptedModel, retrieve: QueryBotOptions['retrieve'], nResults = 3): Promise<QueryEvent[]> =>
    await eventsOf(botWith(model, { retrieve: retrieve ?? {} }).events('Of which wood were the sails made, larch?', { nResults }))

  it('is added as one range of the source, within the section, and cited by its place', async () => {
    const [narrow, wide] = [silent(), silent('The sails were made of larch. [1]')]
    await asked(narrow, {})
    const events = await asked(wide, { widen: { chunks: 50, best: 1 } })
    const best = wide.requests[0]?.grounding?.passages[0]?.chunk
    const before = narrow.requests[0]?.grounding?.passages[0]?.chunk
    expect(best?.id).toBe(before?.id)
    expect(best?.text).toBe(text.slice(best?.start, best?.end))
    expect(best?.text.length).toBeGreaterThan((before?.text.length ?? 0) * 2)
    expect(best?.text).toContain('Sails paragraph 0')
    expect(best?.text).toContain('Sails paragraph 5')
    expect(best?.text).not.toMatch(/Wheels|Stones/)
    expect(best?.lines?.[0]).toBe(text.slice(0, best?.start).split('\n').length)
    const last = events.at(-1)
    const [citation] = last?.type === 'complete' ? (last.result.citations ?? []) : []
    expect(citation).toMatchObject({ supported: true, chunkId: before?.id, source: 'mills.md' })
    expect(text.slice(citation?.start, citation?.end)).toBe(citation?.quote)
    const ranges = wide.requests[0]?.grounding?.passages.map(({ chunk }) => chunk) ?? []
    for (const [at, one] of ranges.entries())
      for (const other of ranges.slice(at + 1))
        expect(one.source === other.source && one.start < other.end && other.start < one.end).toBe(false)
  })

  it('is left out without room, for models that only quote, and if the store does not know it', async () => {
    const small = new ScriptedModel(() => 'Yes.', { facts: { contextWindow: 3000 } })
    await asked(small, { widen: { chunks: 50, within: 'document' } })
    const tokens = small.requests[0]?.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) / 3.5, 0) ?? 0
    expect(tokens).toBeLessThan(3000 * 0.75)
    const quoting = new ScriptedModel(() => 'Yes.', { facts: { writes: false } })
    const bare: DocumentStore = {
      name: 'bare',
      append: () => Promise.resolve(),
      extend: () => Promise.resolve(),
      retrieve: (query, n) => docstore.retrieve(query, n),
      search: (query, options) => docstore.search(query, options),
      delete: () => Promise.resolve(false),
      reset: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
    const plain = silent()
    await asked(quoting, { widen: true })
    await asked(plain, {})
    const without = silent()
    await eventsOf(
      query({
        prompt: 'Of which wood were the sails made, larch?',
        model: without,
        retrieve: { docstore: bare, widen: true, nResults: 3 },
      }),
    )
    const texts = (model: ScriptedModel): unknown => model.requests[0]?.grounding?.passages.map(({ chunk }) => chunk.text)
    expect(texts(quoting)).toEqual(texts(plain))
    expect(texts(without)).toEqual(texts(plain))
  })
})

describe('room', () => {
  it('QRY-RAG-014 passages do not get the tokens that tools need', async () => {
    const prose = (at: number): string => Array.from({ length: 120 }, (_, word) => `w${(at * 131 + word * word) % 997}`).join(' ')
    await docstore.extend(Array.from({ length: 20 }, (_, at) => ({ source: `${at}.md`, text: `larch ${prose(at)}` })))
    const tool = {
      name: 'long',
      description: 'word '.repeat(1500),
      inputSchema: { type: 'object' as const },
      call: () => Promise.resolve('x'),
    }
    const sent = async (tools: (typeof tool)[]): Promise<number> => {
      const model = new ScriptedModel(() => 'Yes.', { facts: { contextWindow: 6000 } })
      await eventsOf(query({ prompt: 'larch', model, tools, retrieve: { docstore }, context: { compaction: false } }))
      return sentTo(model).length
    }
    const [bare, offered] = [await sent([]), await sent([tool])]
    expect(bare).toBeGreaterThan(offered + 5)
    expect(offered).toBeGreaterThan(0)
  })

  it('sends a text that is in many documents once, with all its sources', async () => {
    const text = 'The mill beside the river was built in 1874, and the flood of 1901 took its wheel.'
    await docstore.extend(Array.from({ length: 9 }, (_, at) => ({ source: `copy-${at}.md`, text })))
    await docstore.append({ source: 'other.md', text: 'The mill has a new wheel.' })
    const model = silent('The flood took its wheel. [1]')
    const last = (await eventsOf(botWith(model).events('mill wheel flood'))).at(-1)
    const [citation] = last?.type === 'complete' ? (last.result.citations ?? []) : []
    expect(citation?.alsoIn?.map(({ source }) => source)).toHaveLength(8)
    expect(sentTo(model)).toHaveLength(2)
    const copies = sentTo(model).find((passage) => passage.includes('1874'))
    expect(copies).toMatch(/also in: "copy-\d\.md" and "copy-\d\.md" and "copy-\d\.md" and 5 more\)\n<<</)
    expect(model.requests[0]?.grounding?.passages.flatMap(({ alsoIn = [] }) => alsoIn)).toHaveLength(8)
  })
})
