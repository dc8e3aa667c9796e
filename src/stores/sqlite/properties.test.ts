import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryDocumentStore } from '../lazy.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import type { SourceDocument } from '../../core/store.ts'

/** Few words, so that documents and queries share some, and unusual characters. */
const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...'mill mills miller river rivers bank banking stone stones the of 1874 東京 ไทย мельница'.split(' '),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
)
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
const document: fc.Arbitrary<SourceDocument> = fc.record(
  { source: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), text, title: text, metadata: fc.constantFrom({}, { kind: 'x' }) },
  { requiredKeys: ['source', 'text'], noNullPrototype: true },
)
type Step = { readonly put: SourceDocument } | { readonly remove: string } | { readonly reset: true }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: document.map((put) => ({ put })) },
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c').map((remove) => ({ remove })) },
  { weight: 1, arbitrary: fc.constant({ reset: true as const }) },
)

describe('a document store', () => {
  it('returns the same results for any order of writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        async (steps, queries) => {
          const store = new MemoryDocumentStore()
          const fresh = new MemoryDocumentStore()
          try {
            const held = new Map<string, SourceDocument>()
            for (const change of steps) {
              if ('put' in change) {
                await store.append(change.put)
                held.set(change.put.source, change.put)
              } else if ('remove' in change) {
                expect(await store.delete(change.remove)).toBe(held.delete(change.remove))
              } else {
                await store.reset()
                held.clear()
              }
            }
            await fresh.extend([...held.values()])
            for (const query of queries) {
              const found = await store.retrieve(query, 10)
              expect(found).toEqual(await fresh.retrieve(query, 10))
              expect(found).toEqual(found.toSorted((a, b) => b.score - a.score))
              for (const { source, text: passage, start, end, evidence } of found) {
                expect(held.get(source)?.text.toWellFormed().slice(start, end)).toBe(passage)
                expect(evidence?.coverage).toBeGreaterThanOrEqual(0)
                expect(evidence?.coverage).toBeLessThanOrEqual(1 + 1e-9)
              }
            }
          } finally {
            await store.close()
            await fresh.close()
          }
        },
      ),
      { numRuns: 60 },
    )
  }, 60_000)

  it('returns a document unchanged after any cuts and changes', async () => {
    const line = fc.oneof(text, fc.constantFrom('', '# Heading', '- item', '\t', ' \r', 'a long line '.repeat(9)))
    const lines = fc.array(line, { maxLength: 40 }).map((all) => all.join('\n'))
    const store = await SqliteDocumentStore.open({ path: ':memory:', chunk: { maxChars: 100 } })
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('text', 'markdown', 'code'), async (whole, format) => {
        const given: SourceDocument = { source: 's', text: whole.toWellFormed(), format, title: 'T', metadata: { a: [1, null] } }
        await store.append(given)
        expect(await store.getDocument('s')).toEqual(given)
      }),
      { numRuns: 200 },
    )
    await store.close()
  })

  it('does not grow when a document gets new words again and again', async () => {
    const store = await SqliteDocumentStore.open({ path: ':memory:' })
    const sizes: number[] = []
    for (let round = 0; round < 16; round++) {
      const words = Array.from({ length: 4000 }, (_, at) => `word${(round * 4000 + at).toString(36).replaceAll(/\d/g, 'z')}x`)
      await store.append({ source: 'log.txt', text: words.join(' ') })
      await store.delete('log.txt')
      sizes.push((await store.stats()).bytes)
    }
    expect((await store.stats()).terms).toBe(0)
    // Compaction runs every few rounds.
    expect((sizes[15] ?? 0) - (sizes[7] ?? 0)).toBeLessThan(16_384)
    await store.close()
  })
})
