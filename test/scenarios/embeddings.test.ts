import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IndexReport } from '../../src/app/stores.ts'
import type { ScoredChunk } from '../../src/core/store.ts'
import { SqliteDocumentStore } from '../../src/stores/sqlite.ts'
import { wireServer } from '../support/wire-server.ts'
import type { Received, Reply, WireServer } from '../support/wire-server.ts'
import { wordVectors } from '../support/word-vectors.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

const NOTES = Object.fromEntries(
  Array.from({ length: 90 }, (_, at) => [`docs/note-${at}.md`, `Note ${at} is about topic${at % 9} and nothing else.`]),
)
const DOCUMENTS = { ...NOTES, 'docs/yard.md': 'The automobile stands in the yard.' }

let place: Place
let server: WireServer | undefined
/** Texts of all requests. */
let asked: string[]
beforeEach(() => {
  place = newPlace()
  asked = []
})
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  place[Symbol.dispose]()
})

/** @param hangsAt number of the request that gets no answer. */
async function serve(hangsAt = Infinity): Promise<Readonly<Record<string, string>>> {
  const model = wordVectors({ dimensions: 512, synonyms: [['automobile', 'vehicle']] })
  const vectors = new Map<string, readonly number[]>()
  const prepare = async (texts: readonly string[]): Promise<void> => {
    const found = await model.embed(texts)
    texts.forEach((text, at) => vectors.set(text, [...(found[at] ?? [])]))
  }
  await prepare([...Object.values(DOCUMENTS), 'vehicle', 'The quick brown fox jumps over the lazy dog.'])
  let requests = 0
  server = await wireServer(({ body }: Received): Reply => {
    const { input } = body as { input: string[] }
    if (++requests === hangsAt) return { body: '{', afterwards: 'hang' }
    asked.push(...input)
    const data = input.map((text, index) => ({ index, embedding: vectors.get(text) ?? [] }))
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    }
  })
  return { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1` }
}

async function vectorsInFile(): Promise<number> {
  const path = join(place.home, 'stores', 'default.db')
  if (!existsSync(path)) return 0
  const store = await SqliteDocumentStore.open({ path, readOnly: true })
  try {
    return store.embeddings?.vectors ?? 0
  } finally {
    await store.close()
  }
}

describe('vectors from the command line', () => {
  test('index, retrieve by meaning, and change the model', async () => {
    place.write(DOCUMENTS)
    const env = await serve()
    const indexed = await place.run(['index', 'docs', '--embed', 'openai-compatible/one', '--json'], { env })
    expect(indexed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(indexed.stdout) as IndexReport).toMatchObject({
      added: 91,
      embeddings: { model: 'openai-compatible/one', embedded: 91, skipped: 0, cut: 0 },
    })
    const found = await place.run(['retrieve', 'vehicle', '--json'], { env })
    const { chunks } = JSON.parse(found.stdout) as { chunks: ScoredChunk[] }
    expect(chunks.map(({ source }) => source)).toEqual(['docs/yard.md'])

    place.configure({ embed: 'openai-compatible/two' })
    const refused = await place.run(['index', 'docs'], { env })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('cria index --embed openai-compatible/two --store default'),
    })
    const changed = await place.run(['index', '--embed', 'openai-compatible/two'], { env })
    expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining('91 vectors of openai-compatible/two') })
    place.configure({})
    expect((await place.run(['index', 'docs', '--json'], { env })).stdout).toContain('"embedded":0')
  })

  test('without its server, search falls back to words with a note; indexing stores documents and fails', async () => {
    place.write(DOCUMENTS)
    const env = await serve()
    await place.run(['index', 'docs', '--embed', 'openai-compatible/one'], { env })
    const gone = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' }
    const found = await place.run(['retrieve', 'yard', '-n', '1'], { env: gone })
    expect(found).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('docs/yard.md'),
      stderr: expect.stringContaining('Searched by words alone'),
    })
  })

  test('after a kill during embedding, the next run requests only the missing vectors', async () => {
    place.write(DOCUMENTS)
    const env = await serve(3)
    const running = place.start(['index', 'docs', '--embed', 'openai-compatible/one'], { env })
    // The fixed sentence and one of the two batches have been answered, the other one never will be.
    await expect.poll(vectorsInFile, { timeout: 15_000 }).toBeGreaterThan(0)
    const found = await place.run(['retrieve', 'yard', '-n', '1'], {
      env: { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' },
    })
    expect(found.stdout).toContain('docs/yard.md')
    running.process.kill('SIGKILL')
    await running.ended
    const again = await place.run(['index', 'docs', '--json'], { env })
    expect(again.code).toBe(0)
    const { embeddings } = JSON.parse(again.stdout) as IndexReport
    const notes = asked.filter((text) => !text.startsWith('The quick'))
    expect(embeddings).toMatchObject({ model: 'openai-compatible/one' })
    expect(new Set(notes).size).toBe(91)
    expect(notes).toHaveLength(91)
  })
})
