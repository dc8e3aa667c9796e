import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SHARED } from '../../test/support/shared.ts'
import { wordVectors } from '../../test/support/word-vectors.ts'
import type { WordVectorOptions } from '../../test/support/word-vectors.ts'
import type { EmbeddingModel } from '../core/retrieval-models.ts'
import { CriaError } from '../core/error.ts'
import type { SourceDocument } from '../core/store.ts'
import { createEmbeddingModel } from '../providers/embedding/create.ts'
import { SqliteDocumentStore } from './sqlite.ts'
import type { SqliteDocumentStoreOptions } from './sqlite.ts'
import { Asker } from './vectors/ask.ts'
import { SearchThread } from './worker/search-thread.ts'

const SYNONYMS = [
  ['car', 'automobile', 'vehicle'],
  ['ship', 'boat'],
]
const NOTES: readonly SourceDocument[] = [
  { source: 'car.md', text: 'The car stands in the yard.' },
  { source: 'mill.md', text: 'The mill was built beside the river.' },
  { source: 'bread.md', text: 'Bread is baked in the morning.' },
]

let folder: string
let opened: SqliteDocumentStore[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-embeddings-'))
  opened = []
})
afterEach(async () => {
  for (const store of opened) await store.close()
  rmSync(folder, { recursive: true })
})

async function open(options: Partial<SqliteDocumentStoreOptions> = {}): Promise<SqliteDocumentStore> {
  const store = await SqliteDocumentStore.open({ path: join(folder, 'store.db'), ...options })
  opened.push(store)
  return store
}

function words(options: WordVectorOptions = {}): ReturnType<typeof wordVectors> {
  return wordVectors({ synonyms: SYNONYMS, ...options })
}

function many(count: number): SourceDocument[] {
  return Array.from({ length: count }, (_, at) => ({ source: `note-${at}`, text: `Note ${at} speaks of subject${at % 17}.` }))
}

const sources = (chunks: readonly { readonly source: string }[]): string[] => chunks.map(({ source }) => source)
const noWait = { sleep: () => Promise.resolve(), random: () => 0 }

describe('a store with an embedding model', () => {
  it('finds passages by meaning without a common word, at once and after reopening', async () => {
    const store = await open({ embeddingModel: words() })
    await store.extend(NOTES)
    expect(sources(await store.retrieve('automobile', 5))).toEqual(['car.md'])
    expect(store.embeddings).toMatchObject({ model: 'test/words', vectors: 3, complete: true })
    await store.close()
    const again = await open({ embeddingModel: words() })
    expect(sources(await again.retrieve('automobile', 5))).toEqual(['car.md'])
    expect(sources(await again.search('vehicle', { filter: { source: ['mill.md', 'bread.md'] } }))).toEqual([])
  })

  it('embeds a question once, with its purpose', async () => {
    const asked: string[] = []
    const store = await open({
      embeddingModel: words({ before: (texts, purpose) => void (purpose === 'query' && asked.push(...texts)) }),
    })
    await store.extend(NOTES)
    for (const limit of [1, 5, 10]) await store.search('automobile', { limit })
    await Promise.all([store.retrieve('river', 3), store.retrieve('river', 3)])
    await store.retrieve('what is the', 3)
    expect(asked).toEqual(['automobile', 'river'])
  })

  it('removes the vectors of changed and removed documents from the file', async () => {
    const store = await open({ embeddingModel: words() })
    await store.extend(NOTES)
    await store.append({ source: 'car.md', text: 'The cart stands in the yard.' })
    await store.delete('mill.md')
    expect(store.embeddings?.vectors).toBe(2)
    expect(await store.retrieve('automobile', 5)).toEqual([])
    await store.reset()
    expect(store.embeddings).toBeUndefined()
    await store.append('An automobile.')
    expect(await store.retrieve('vehicle', 5)).toHaveLength(1)
  })

  it('keeps the vectors of a renamed source without asking the model', async () => {
    const asked: string[] = []
    const store = await open({
      embeddingModel: words({ before: (texts, purpose) => void (purpose === 'document' && asked.push(...texts)) }),
    })
    await store.extend([...NOTES, { source: 'empty.md', text: '…' }])
    const [before, held] = [await store.retrieve('automobile', 5), store.embeddings]
    asked.length = 0
    expect(await store.move('car.md', 'garage/car.md')).toBe(true)
    expect(await store.move('empty.md', 'nothing.md')).toBe(true)
    expect(store.embeddings).toEqual(held)
    expect(await store.embed()).toMatchObject({ embedded: 0, skipped: 0 })
    const after = await store.retrieve('automobile', 5)
    expect(after.map(({ source, score }) => [source, score])).toEqual(before.map(({ score }) => ['garage/car.md', score]))
    expect(asked).toEqual([])
  })

  it('returns the same results for any order of writes, also with codes', async () => {
    const text = fc.array(fc.constantFrom('car', 'vehicle', 'mill', 'river', 'bread', 'automobile'), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), text), { minLength: 1, maxLength: 12 }), async (steps) => {
        const model = words({ dimensions: 256 })
        const [store, fresh] = [0, 1].map(() => SqliteDocumentStore.openSync({ path: ':memory:', embeddingModel: model }))
        if (store === undefined || fresh === undefined) throw new Error('no stores')
        const held = new Map<string, SourceDocument>()
        const filler = many(1100)
        for (const [at, found] of steps) held.set(`s${at}`, { source: `s${at}`, text: found.join(' ') })
        for (const [at, found] of steps) await store.append({ source: `s${at}`, text: found.join(' ') })
        await store.extend(filler)
        await fresh.extend([...filler.toReversed(), ...held.values()])
        for (const query of ['automobile', 'car river', 'subject3 vehicle']) {
          expect(await store.retrieve(query, 12)).toEqual(await fresh.retrieve(query, 12))
        }
        await store.close()
        await fresh.close()
      }),
      { numRuns: 2 },
    )
  }, 60_000)

  it('QRY-RAG-030 a thread searches vectors as the store does, with the question embedded by the caller', async () => {
    const store = await open({ embeddingModel: words() })
    await store.extend(NOTES)
    const thread = new SearchThread(store)
    store.closeWith(thread)
    expect(await thread.search('automobile')).toEqual(await store.search('automobile'))
    expect(sources(await thread.search('automobile'))).toEqual(['car.md'])
  })

  it('loads no vector code for a store without vectors', async () => {
    const store = await open()
    await store.extend(NOTES)
    expect(await store.retrieve('automobile', 5)).toEqual([])
    await expect(store.embed()).rejects.toMatchObject({ code: 'configuration' })
    expect(store.embeddings).toBeUndefined()
  })
})

describe('when the model does not answer a question', () => {
  it.each(['network', 'auth', 'timeout'] as const)('searches by words alone, and returns a notice (%s)', async (code) => {
    let down = false
    const model = words({
      before: () => {
        if (down) throw new CriaError(code, 'The server is gone.', { retryable: false })
      },
    })
    const store = await open({ embeddingModel: model })
    await store.extend(NOTES)
    down = true
    const found = await store.retrieve('river automobile', 5)
    expect(sources(found)).toEqual(['mill.md'])
    expect(found.notice).toEqual({ code: 'words_alone', message: expect.stringContaining('The server is gone.') })
    const thread = new SearchThread(store)
    store.closeWith(thread)
    expect((await thread.search('river automobile')).notice).toEqual(found.notice)
    down = false
    expect((await store.retrieve('river automobile', 5)).notice).toBeUndefined()
  })

  it('rejects when aborted', async () => {
    const store = await open({
      embeddingModel: words({ before: (_, purpose) => (purpose === 'query' ? new Promise(() => {}) : undefined) }),
    })
    await store.extend(NOTES)
    const controller = new AbortController()
    const waiting = store.search('car', { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('a change of the embedding model', () => {
  it.each([
    ['another model', words({ ref: 'test/other' })],
    ['another provider', words({ ref: 'other/words' })],
  ])('%s is refused with the command that makes the vectors again', async (_, model) => {
    const store = await open({ embeddingModel: words(), name: 'handbook' })
    await store.extend(NOTES)
    await expect(open({ embeddingModel: model, name: 'handbook' })).rejects.toMatchObject({
      code: 'configuration',
      hint: expect.stringContaining(`cria index --embed ${model.ref} --store handbook`),
      details: { held: { model: 'test/words', dimensions: 16_384 }, given: { model: model.ref } },
    })
  })

  it.each([
    ['another length', words({ dimensions: 64 })],
    ['another model of the same name and length', words({ seed: 'other' })],
  ])('%s is detected before vectors are mixed', async (_, model) => {
    const store = await open({ embeddingModel: words() })
    await store.extend(NOTES)
    await store.close()
    const other = await open({ embeddingModel: model })
    await expect(other.append('One more.')).rejects.toMatchObject({
      code: 'configuration',
      hint: expect.stringContaining('--embed'),
    })
    await expect(other.retrieve('car', 5)).rejects.toMatchObject({ code: 'configuration' })
    expect(other.embeddings?.vectors).toBe(3)
  })

  it('a different norm of the vectors makes no difference', async () => {
    const store = await open({ embeddingModel: words() })
    await store.extend(NOTES)
    const before = await store.retrieve('automobile', 5)
    await store.close()
    const other = await open({ embeddingModel: words({ norm: 7 }) })
    await other.append({ source: 'more.md', text: 'Sails of linen.' })
    await other.delete('more.md')
    expect(await other.retrieve('automobile', 5)).toEqual(before)
  })

  it('an interrupted change continues, and until it is complete the old vectors, or words, are searched', async () => {
    const old = await open({ embeddingModel: words() })
    await old.extend([...many(300), ...NOTES])
    const before = await old.retrieve('automobile', 5)
    let asked = 0
    const controller = new AbortController()
    const model = words({
      ref: 'test/other',
      synonyms: [...SYNONYMS, ['bread', 'loaf']],
      parallel: false,
      before: (texts) => void (asked += texts.length),
    })
    const changing = await open({ embeddingModel: model, replaceEmbeddings: true })
    await expect(
      changing.embed({ signal: controller.signal, onProgress: ({ done }) => (done >= 128 ? controller.abort() : undefined) }),
    ).rejects.toMatchObject({ name: 'AbortError' })
    expect(await old.retrieve('automobile', 5)).toEqual(before)
    const found = await changing.retrieve('automobile river', 5)
    expect(sources(found)).toEqual(['mill.md'])
    expect(found.notice?.code).toBe('words_alone')
    await changing.close()

    asked = 0
    const resumed = await open({ embeddingModel: model, replaceEmbeddings: true })
    const progress: number[] = []
    const report = await resumed.embed({ onProgress: ({ done, total }) => progress.push(done / total) })
    expect(report).toEqual({ model: 'test/other', embedded: 303 - 128, skipped: 0, cut: 0 })
    expect(asked).toBe(303 - 128 + 1)
    expect([progress[0], progress.at(-1)]).toEqual([0, 1])
    expect(resumed.embeddings).toMatchObject({ model: 'test/other', vectors: 303, complete: true })
    expect(sources(await resumed.retrieve('loaf', 1))).toEqual(['bread.md'])
    // A process that still has the old model open compares no incompatible vectors.
    expect((await old.retrieve('automobile river', 5)).notice?.code).toBe('words_alone')

    const fresh = await open({ path: join(folder, 'fresh.db'), embeddingModel: model })
    await fresh.extend([...many(300), ...NOTES])
    expect(await resumed.retrieve('loaf in the yard', 20)).toEqual(await fresh.retrieve('loaf in the yard', 20))
  })
})

describe('limits of embedding models', () => {
  it('splits a batch above the limit, and remembers the limit', async () => {
    const sizes: number[] = []
    const model = words({
      parallel: false,
      before: (texts) => {
        sizes.push(texts.length)
        if (texts.length > 16) throw new CriaError('invalid_request', 'at most 16 allowed', { status: 400 })
      },
    })
    const store = await open({ embeddingModel: model })
    await store.extend(many(200))
    expect(store.embeddings?.vectors).toBe(200)
    expect(sizes.filter((size) => size > 16)).toEqual([64, 32])
    expect(sizes.filter((size) => size === 16).length).toBeGreaterThanOrEqual(12)
  })

  it('cuts only the text above the limit', async () => {
    const model = words({
      before: (texts) => {
        const long = texts.some((text) => text.length > 400)
        if (long) throw new CriaError('context_length', 'too many tokens')
      },
    })
    const store = await open({ embeddingModel: model })
    await store.extend([...NOTES, { source: 'long.md', text: `The boat. ${'More words follow it. '.repeat(50)}` }])
    expect(store.embeddings?.vectors).toBe(4)
    expect(sources(await store.retrieve('ship', 5))).toEqual(['long.md'])
  })

  it('requests only the missing vectors after a 429 in batch 37 of 100', async () => {
    const asked: string[] = []
    let batch = 0
    let refuses = true
    const model = words({
      maxBatch: 2,
      parallel: false,
      before: (texts) => {
        if (texts.length === 1) return
        batch++
        if (refuses && batch === 37) throw new CriaError('quota', 'no credit left', { status: 429 })
        asked.push(...texts)
      },
    })
    const store = await open({ embeddingModel: model })
    await expect(store.extend(many(200))).rejects.toMatchObject({ code: 'quota' })
    expect(store.embeddings?.vectors).toBe(72)
    expect(sources(await store.retrieve('speaks of subject3', 1))).toEqual(['note-3'])
    refuses = false
    await store.embed()
    expect(new Set(asked).size).toBe(200)
    expect(asked).toHaveLength(200)
  })

  it('waits for a rate limit as long as the provider asks', async () => {
    const waits: number[] = []
    let calls = 0
    const model = words({
      before: () => {
        if (++calls < 3) throw new CriaError('rate_limited', 'slow down', { details: { retryAfterMs: 1500 } })
      },
    })
    const asker = new Asker(model, { sleep: (ms) => void waits.push(ms) as never, random: () => 0.5 })
    expect(await asker.embed(['a'], undefined)).toHaveLength(1)
    expect(waits).toEqual([1500, 1500])
  })

  it('tries six times after temporary errors, never at once', async () => {
    const waits: number[] = []
    const model = words({ before: () => Promise.reject(new CriaError('network', 'gone')) })
    const asker = new Asker(model, { sleep: (ms) => void waits.push(ms) as never, random: () => 0 })
    await expect(asker.embed(['a'], undefined)).rejects.toMatchObject({ code: 'network' })
    expect(waits).toEqual([100, 200, 400, 800, 1600])
  })

  it.each([[[Number.NaN, 1]], [[Infinity]], [[]]])('refuses an invalid vector: %j', async (numbers) => {
    const model = {
      ref: 'test/bad',
      embed: (texts: readonly string[]) => Promise.resolve(texts.map(() => Float32Array.from(numbers))),
    }
    await expect(new Asker(model, noWait).embed(['a'], undefined)).rejects.toMatchObject({ code: 'invalid_response' })
  })

  it.each([
    ['is not a list', null],
    ['has plain lists of numbers', [[1, 2]]],
    ['holds NaN', [Float32Array.of(Number.NaN, 1)]],
    ['is all zeros', [Float32Array.of(0, 0)]],
  ])('refuses at once a custom model whose answer %s, and stores no vector', async (_, answer) => {
    let asked = 0
    const embed = (): Promise<never> => Promise.resolve((asked++, answer as never))
    const store = await open({ embeddingModel: { ref: 'test/odd', embed } })
    await expect(store.append('The mill stands by the river.')).rejects.toMatchObject({ code: 'invalid_response' })
    expect(asked).toBe(1)
    expect(store.embeddings).toBeUndefined()
  })

  it('requests wrong vectors once, and names the document in the error', async () => {
    let asked = 0
    const good = wordVectors()
    const embed: EmbeddingModel['embed'] = async (texts, options) => {
      const vectors = await good.embed(texts, options)
      if (texts.some((text) => text.includes('river'))) asked++
      return vectors.map((vector, at) => (texts[at]?.includes('river') === true ? vector.fill(Number.NaN) : vector))
    }
    const store = await open({ embeddingModel: { ref: 'test/odd', embed } })
    const documents = ['sails', 'river', 'bakery'].map((word) => ({ source: `${word}.md`, text: `The mill, and the ${word}.` }))
    await expect(store.extend(documents)).rejects.toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('The texts were from "river.md".'),
      details: { sources: ['river.md'] },
    })
    expect(asked).toBe(1)
  })

  it('requests an unreadable answer twice, and names some of the documents in the error', async () => {
    let asked = 0
    const good = wordVectors()
    const embed: EmbeddingModel['embed'] = async (texts, options) => {
      if (texts.length === 1) return good.embed(texts, options)
      asked++
      throw new CriaError('invalid_response', 'the vectors hold null.')
    }
    const store = await open({ embeddingModel: { ref: 'test/odd', embed } })
    const documents = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ source: `${name}.md`, text: `The mill of ${name}.` }))
    await expect(store.extend(documents)).rejects.toThrow(
      'the vectors hold null. The texts were from "a.md", "b.md", "c.md", 2 more.',
    )
    expect(asked).toBe(2)
  })

  it('stops waiting for a model that ignores its signal when aborted', async () => {
    const store = await open({ embeddingModel: { ref: 'test/deaf', embed: () => new Promise(() => {}) } })
    for await (const _ of store.putAll(NOTES.map((document) => ({ document }))));
    const controller = new AbortController()
    const embedding = store.embed({ signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(embedding).rejects.toBe(reason)
  })

  it.each([{ maxBatch: Number.NaN }, { maxBatch: 0 }, { maxTokens: '512' as never }])(
    'refuses an invalid limit when the store is opened: %j',
    async (limit) => {
      await expect(open({ embeddingModel: { ...words(), ...limit } })).rejects.toMatchObject({
        code: 'configuration',
        message: expect.stringContaining(Object.keys(limit)[0] ?? ''),
      })
    },
  )

  it('finds a text with a zero vector by its words', async () => {
    const store = await open({ embeddingModel: words() })
    await store.extend([...NOTES, { source: 'signs.md', text: '★ ☆ ★' }])
    expect(store.embeddings?.vectors).toBe(4)
    expect(sources(await store.retrieve('automobile', 5))).toEqual(['car.md'])
    expect(await store.embed()).toMatchObject({ embedded: 0, skipped: 0 })
  })
})

describe('over HTTP', () => {
  it('sends at most four requests at once', async () => {
    let running = 0
    let most = 0
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        most = Math.max(most, ++running)
        const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] }
        setImmediate(() => {
          running--
          const data = input.map((text, index) => ({ index, embedding: [text.length, 1, 0] }))
          response
            .setHeader('content-type', 'application/json')
            .end(JSON.stringify({ data, usage: { prompt_tokens: 1, total_tokens: 1 } }))
        })
      })
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    try {
      const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
      const store = await open({
        embeddingModel: createEmbeddingModel('openai-compatible/small', { baseURL, maxBatch: 8, env: {} }),
      })
      await store.extend(many(200))
      expect(store.embeddings).toMatchObject({ model: 'openai-compatible/small', dimensions: 3, vectors: 200 })
      expect(most).toBeGreaterThan(1)
      expect(most).toBeLessThanOrEqual(4)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  const replay = join(SHARED, 'wire/replay-server.mjs')
  it.skipIf(!existsSync(replay))('against a server that takes 16 texts at once and answers in any order', async () => {
    const { start } = (await import(pathToFileURL(replay).href)) as {
      start: (options: { quiet: boolean }) => Promise<{ url: string; close: () => Promise<void> }>
    }
    const server = await start({ quiet: true })
    try {
      const baseURL = `${server.url}/embed;dims=256;maxBatch=16;shuffle=1/v1`
      const store = await open({ embeddingModel: createEmbeddingModel('openai-compatible/x', { baseURL, env: {} }) })
      await store.extend([...many(60), ...NOTES])
      expect(store.embeddings).toMatchObject({ dimensions: 256, vectors: 63 })
      expect(sources(await store.retrieve('bread baked morning', 1))).toEqual(['bread.md'])
    } finally {
      await server.close()
    }
  })
})
