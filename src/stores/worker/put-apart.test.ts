import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchThreads } from '../../../test/support/threads.ts'
import type { WatchedThreads } from '../../../test/support/threads.ts'
import { wordVectors } from '../../../test/support/word-vectors.ts'
import { SqliteDocumentStore } from '../sqlite.ts'

let folder: string
let store: SqliteDocumentStore
let threads: WatchedThreads

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cria-put-apart-'))
  store = await SqliteDocumentStore.open({ path: join(folder, 'store.db'), chunk: { maxChars: 4000 } })
  threads = watchThreads()
})

afterEach(async () => {
  threads[Symbol.dispose]()
  await store.close()
  rmSync(folder, { recursive: true })
})

const large = (source: string, word: string): { source: string; text: string } => ({
  source,
  text: `${word} and flour.\n`.repeat(90_000),
})
const sources = async (query: string): Promise<Set<string>> =>
  new Set((await store.retrieve(query, 5)).map(({ source }) => source))

/** Opens the store again with an embedding model that answers certain texts only after a call of `answer`. */
async function reopenGated(
  isGated: (texts: readonly string[]) => boolean,
): Promise<{ asked: Promise<void>; answer: () => void }> {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const before = (texts: readonly string[]): Promise<void> | undefined => {
    if (!isGated(texts)) return undefined
    ask()
    return answered
  }
  await store.close()
  const embeddingModel = wordVectors({ before })
  store = await SqliteDocumentStore.open({ path: store.path, chunk: { maxChars: 4000 }, embeddingModel })
  return { asked, answer }
}

const started = async (): Promise<void> => {
  await expect.poll(() => threads.started.length, { interval: 1 }).toBe(1)
}

describe('a large document', () => {
  it('is put by a thread with the same result, while the event loop is free and the store can be searched', async () => {
    await store.append({ source: 'small.md', text: 'The mill grinds rye.' })
    expect(threads.started).toHaveLength(0)
    const before = await SqliteDocumentStore.open({ path: ':memory:', chunk: { maxChars: 4000 } })
    await before.extend([{ source: 'small.md', text: 'The mill grinds rye.' }, large('large.md', 'Wheat')])
    let turns = 0
    const ticking = setInterval(() => turns++, 5)
    const putting = store.append(large('large.md', 'Wheat'))
    expect(await sources('mill')).toEqual(new Set(['small.md']))
    await putting
    clearInterval(ticking)
    expect(turns).toBeGreaterThan(5)
    expect(threads.started).toHaveLength(1)
    expect(await store.retrieve('wheat', 5)).toEqual(await before.retrieve('wheat', 5))
    expect({ ...(await store.stats()), bytes: 0 }).toEqual({ ...(await before.stats()), bytes: 0 })
    await before.close()
  })

  it('delays the next write and the closing of the store', async () => {
    const work = [
      store.append(large('large.md', 'Wheat')),
      store.append({ source: 'small.md', text: 'Rye.' }),
      store.append(large('other.md', 'Barley')),
      store.move('large.md', 'moved.md'),
      store.delete('other.md'),
    ]
    const closed = store.close()
    expect(await Promise.all(work)).toEqual([undefined, undefined, undefined, true, true])
    await closed
    store = await SqliteDocumentStore.open({ path: store.path, chunk: { maxChars: 4000 } })
    expect([...store.sources()].map(({ source }) => source)).toEqual(['moved.md', 'small.md'])
  })

  it('delays the writing of vectors, which block nothing while they wait', async () => {
    const { asked, answer } = await reopenGated((texts) => texts.includes('Rye.'))
    const small = store.append({ source: 'small.md', text: 'Rye.' })
    await asked
    const putting = store.append(large('large.md', 'Wheat'))
    await started()
    let turns = 0
    const ticking = setInterval(() => turns++, 5)
    answer()
    await small
    clearInterval(ticking)
    expect(turns).toBeGreaterThan(5)
    await putting
    expect(store.embeddings?.complete).toBe(true)
  })

  it.each([
    ['before it has begun', undefined],
    ['when the model has been tried', 'The quick brown fox'],
    ['when vectors have been made', 'Rye.'],
  ])('an embedding run that waits for it can be aborted at once: %s', async (_, gated) => {
    await store.append({ source: 'small.md', text: 'Rye.' })
    const { asked, answer } = await reopenGated(([first]) => gated !== undefined && first?.startsWith(gated) === true)
    const controller = new AbortController()
    const order: string[] = []
    const put = async (): Promise<void> => {
      await Array.fromAsync(store.putAll([{ document: large('large.md', 'Wheat') }]))
      order.push('put')
    }
    const embed = async (): Promise<void> => {
      await store.embed({ signal: controller.signal }).catch((error: unknown) => order.push((error as Error).message))
    }
    const early = gated === undefined ? undefined : embed()
    if (early !== undefined) await asked
    const putting = put()
    await started()
    const embedding = early ?? embed()
    answer()
    for (let turns = 0; turns < 3; turns++) await setImmediate()
    const held = store.embeddings?.vectors
    controller.abort(new Error('enough'))
    await embedding
    // The thread has not reported completion.
    expect(threads.started[0]?.messages).toEqual([])
    await putting
    expect(order).toEqual(['enough', 'put'])
    expect(store.embeddings?.vectors).toBe(held)
  })

  it('is not stored when aborted while it waits for another thread', async () => {
    const controller = new AbortController()
    const first = store.append(large('large.md', 'Wheat'))
    await started()
    const second = Array.fromAsync(store.putAll([{ document: { source: 'small.md', text: 'Rye.' } }], controller.signal))
    const order: string[] = []
    const settled = [
      first.then(() => order.push('first')),
      second.catch((error: unknown) => order.push((error as Error).message)),
    ]
    await setImmediate()
    controller.abort(new Error('enough'))
    await Promise.all(settled)
    expect(order).toEqual(['enough', 'first'])
    expect([...store.sources()].map(({ source }) => source)).toEqual(['large.md'])
  })

  it('is not stored when aborted midway, and the file can be written at once', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const documents = [{ document: { source: 'small.md', text: 'Rye.' } }, { document: large('large.md', 'Wheat') }]
    const putting = Array.fromAsync(store.putAll(documents, controller.signal))
    putting.catch(() => {})
    await started()
    controller.abort(reason)
    await expect(putting).rejects.toBe(reason)
    // The document put before it is stored.
    expect([...store.sources()].map(({ source }) => source)).toEqual(['small.md'])
    await store.append({ source: 'other.md', text: 'Barley.' })
    expect(await sources('barley')).toEqual(new Set(['other.md']))
  })

  it('fails alone when too large for the available memory, and its neighbours are stored', async () => {
    const [sqlite, indexing] = ['../sqlite.ts', '../index-files.ts'].map((file) =>
      JSON.stringify(new URL(file, import.meta.url).href),
    )
    const documentsFolder = join(folder, 'documents')
    mkdirSync(documentsFolder)
    const script = `
      import { writeFileSync } from 'node:fs'
      import { SqliteDocumentStore } from ${sqlite}
      import { indexFiles } from ${indexing}
      const store = await SqliteDocumentStore.open({ path: ${JSON.stringify(store.path)} })
      const words = Array.from({ length: 600_000 }, (_, at) => (at * 2654435761 % 2 ** 32).toString(36) + 'z')
      const documents = [{ source: 'a.md', text: 'Rye.' }, { source: 'large.txt', text: words.join(' ') }, { source: 'z.md', text: 'Oats.' }]
      const results = await Array.fromAsync(store.putAll(documents.map((document) => ({ document }))))
      const thrown = await store.extend(documents).catch((error) => error.message)
      process.chdir(${JSON.stringify(documentsFolder)})
      for (const { source, text } of documents) writeFileSync(source, text)
      const { added, changed, skipped } = await indexFiles(store, ['.'])
      console.log(JSON.stringify({ added, changed, skipped, results: results.map(({ source, outcome }) => [source, outcome]), thrown }))`
    const flags = ['--max-old-space-size=32', '--max-semi-space-size=1', '--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 50_000 })
    expect(JSON.parse(stdout)).toEqual({
      results: [
        ['a.md', 'added'],
        ['large.txt', 'failed'],
        ['z.md', 'added'],
      ],
      thrown: expect.stringMatching(/^"large\.txt" is too large for the available memory/),
      added: 0,
      changed: 2,
      skipped: [{ path: 'large.txt', reason: expect.stringContaining('too large for the available memory') }],
    })
    expect([...store.sources()].map(({ source }) => source)).toEqual(['a.md', 'cria:base', 'cria:paths', 'z.md'])
  }, 60_000)

  it('rejects when its thread cannot write, or ends', async () => {
    const putting = store.append(large('large.md', 'Wheat'))
    putting.catch(() => {})
    await started()
    const ended = threads.started[0]?.worker.terminate()
    await expect(putting).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('"large.md"') })
    await ended
    await expect(store.append({ ...large('large.md', 'Wheat'), format: 'pdf' as never })).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('"pdf"'),
    })
  })
})
