import { expect, test } from 'vitest'
import type { SourceDocument } from '../core/store.ts'
import { ChatMemory } from './chat-memory.ts'
import { chunkDocument } from './chunk/chunk-document.ts'
import { MemoryDocumentStore } from './lazy.ts'

const CONFIGURATION = { name: 'ConfigurationError', code: 'configuration' }

test.each([
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a number', 5, '5'],
  ['one document', { source: 'a', text: 'b' }, 'an object'],
  ['a string', 'abc', '"abc"'],
])('extend() refuses %s', async (_, given, received) => {
  for (const store of [new MemoryDocumentStore(), new ChatMemory()]) {
    const message = expect.stringMatching(`^extend\\(\\) takes a list of documents.* but got ${received}; append\\(\\)`) as string
    await expect(store.extend(given as never)).rejects.toMatchObject({ ...CONFIGURATION, message })
    expect(await store.retrieve('b', 5)).toEqual([])
  }
})

test.each([
  ['nothing', undefined, /but got undefined/],
  ['a text', 'abc', /but got "abc"/],
  ['no text', { source: 'a' }, /its `text` is undefined/],
  ['no source', { text: 'a' }, /its `source` is undefined/],
  ['an unknown format', { source: 'a', text: 'b', format: 'pdf' }, /its `format` is "pdf", not one of text, markdown/],
])('chunkDocument() refuses %s', (_, given, message) => {
  const chunk = (): unknown => chunkDocument(given as unknown as SourceDocument)
  expect(chunk).toThrow(message)
  expect(chunk).toThrow(expect.objectContaining(CONFIGURATION) as Error)
})

test('chunkDocument() refuses null as options', () => {
  expect(() => chunkDocument({ source: 'a', text: 'b' }, null as never)).toThrow(
    /chunkDocument\(\) takes an object of options, but got null/,
  )
})
