import { describe, expect, test } from 'vitest'
import type { QueryEvent } from '../core/event.ts'
import type { DocumentStore } from '../core/store.ts'
import { query } from '../engine/query.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'

const GOOD = { id: 'a', text: 'Text.', source: 'a.md', start: 0, end: 5, score: 1, metadata: {} }

function storeOf(found: unknown): DocumentStore {
  return { name: 'mine', retrieve: () => found } as unknown as DocumentStore
}

async function lastEvent(docstore: DocumentStore): Promise<QueryEvent | undefined> {
  let last: QueryEvent | undefined
  const model = new ScriptedModel(['Fine.'])
  for await (const event of query({ model, prompt: 'What is there?', retrieve: { docstore } })) last = event
  return last
}

describe('what a store of the user returns', () => {
  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /a list of chunks, but is undefined/],
    ['null', Promise.resolve(null), /but is null/],
    ['an object', Promise.resolve({ chunks: [] }), /but is an object/],
    ['a text', Promise.resolve('chunks'), /but is "chunks"/],
    ['a list of texts', Promise.resolve(['Text.']), /its number 0 is "Text."/],
    ['a hole in a list', Promise.resolve([GOOD, null]), /its number 1 is null/],
    [
      'a chunk without text',
      Promise.resolve([{ ...GOOD, text: undefined }]),
      /`text` of its number 0 is undefined, not a string/,
    ],
    [
      'a score that is not a number',
      Promise.resolve([{ ...GOOD, score: Number.NaN }]),
      /`score` of its number 0 is NaN, not a number/,
    ],
    [
      'a chunk without metadata',
      [{ ...GOOD, metadata: undefined }],
      /`metadata` of its number 0 is undefined, not an object of JSON/,
    ],
    ['metadata that cannot be written down', [{ ...GOOD, metadata: { a: 1n } }], /`metadata` of its number 0 is an object/],
  ])('%s ends the turn with an error that names the store', async (_, found, message) => {
    const last = await lastEvent(storeOf(found))
    expect(last).toMatchObject({
      type: 'error',
      error: { code: 'store_failed', message: expect.stringContaining('"mine"') as string },
    })
    expect(last).toMatchObject({ error: { message: expect.stringMatching(message) as string } })
  })

  test('is cut to the requested number of chunks', async () => {
    const docstore = storeOf(Array.from({ length: 5000 }, (_, index) => ({ ...GOOD, id: `${index}`, text: `Text ${index}.` })))
    const model = new ScriptedModel(['Fine.'])
    for await (const event of query({ model, prompt: 'What is there?', retrieve: { docstore, nResults: 3 } }))
      if (event.type === 'retrieval') expect(event.chunks.map(({ id }) => id)).toEqual(['0', '1', '2'])
    expect(model.requests[0]?.messages.filter(({ content }) => content.startsWith('Passage'))).toHaveLength(3)
  })

  test('chunks are accepted unchanged, with or without a promise', async () => {
    for (const found of [[GOOD], Promise.resolve([GOOD])])
      expect(await lastEvent(storeOf(found))).toMatchObject({ type: 'complete', result: { text: 'Fine.' } })
  })
})
