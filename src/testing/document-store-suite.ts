/**
 * Tests the behaviour that every document store must have. Run it on your own store:
 *
 *     import { describe, it } from 'vitest'        // or node:test, or any other with these two
 *     documentStoreSuite('my store', async () => ({ open: () => openMine(), remove: () => {} }), { describe, it })
 *
 * A store without some of the optional capabilities passes the others as the last argument, and is tested for those: `{ claims: ['filters'] }`.
 */

import assert from 'node:assert/strict'
import { unclaimed } from './claims.ts'
import type { Runner } from './claims.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { ChunkFilter, DocumentStore, ScoredChunk, SourceDocument, Surroundings } from '../core/store.ts'

/** An empty store. */
export interface StoreUnderTest {
  /** Opens the store; opened again after it was closed, it still contains its documents, unless it `forgets`. */
  open(): MaybePromise<DocumentStore>
  /** The documents are lost when the store is closed. */
  readonly forgets?: boolean
  /** Called after every opened store has been closed. */
  remove(): MaybePromise<void>
}

/**
 * Optional capabilities. `filters`: the option `filter` of `search`. `patterns`: `{ glob }` in filters. `word-forms`: finds inflected and misspelt
 * words, letters with and without marks, parts of names, and scripts without spaces. `stop-words`: finds nothing for words of every text. `order`:
 * results are independent of the order in which documents were added, changed and removed. `surroundings`: has `around`. `evidence`: chunks carry `evidence`.
 */
export const STORE_CAPABILITIES = [
  'filters',
  'patterns',
  'word-forms',
  'stop-words',
  'order',
  'surroundings',
  'evidence',
] as const
/** Optional capabilities of a store. */
export type StoreCapability = (typeof STORE_CAPABILITIES)[number]

/** Options of `documentStoreSuite()`. */
export interface StoreSuiteOptions {
  /** Optional capabilities that the store has; default all. */
  readonly claims?: readonly StoreCapability[]
}

const MILL = { source: 'mill.md', text: 'The mill was built in 1874 beside the river. Its wheel turned until the flood.' }
const BAKERY = { source: 'bakery.md', text: 'The bakery buys flour from the mill, and sells bread and cakes.' }
const BRIDGE = { source: 'bridge.md', title: 'The stone bridge', text: 'Carts crossed here on their way to market.' }
/** The documents that most tests search. */
export const SUITE_DOCUMENTS: readonly SourceDocument[] = [MILL, BAKERY, BRIDGE]

const FRUIT: readonly SourceDocument[] = [
  { source: 'a', title: 'One', text: 'apple pie', metadata: { year: 1874, open: true, tags: ['sweet', 'warm'] } },
  { source: 'b', title: 'Two', text: 'apple tart', metadata: { year: 1875, open: false } },
  { source: 'c', text: 'apple juice', metadata: { year: '1874', "it's": 'odd' } },
]

/** Text that may break query languages, parsers and databases. */
export const AWKWARD_QUERIES: readonly string[] = [
  '',
  ' \n\t ',
  '"',
  '""',
  "'",
  "don't",
  '*',
  'mill*',
  'AND',
  'mill AND NOT river',
  'OR OR',
  'NEAR(',
  'NEAR(mill river, 3)',
  '(mill',
  'mill)',
  'source:mill',
  '{source text}: mill',
  '-mill',
  '+mill',
  '^mill',
  'multi-agent',
  "'; DROP TABLE chunks; --",
  '\u0000',
  'mill\u0000river',
  '\ud800',
  'mill \udc00 river',
  '\u202emill\u202c',
  'الطاحونة בית',
  '🏭🌊 mill 👩‍👩‍👧‍👦',
  'm̂̃̄ill',
  '東京 磨坊 โรงสี',
  '%_\\',
  '$1 ?1 :name @name',
  '[0-9]+(',
]

/** Documents in several languages and forms, and for each query the source that must come first. */
export const WORD_FORMS: {
  readonly documents: readonly SourceDocument[]
  readonly cases: readonly (readonly [query: string, source: string])[]
} = {
  documents: [
    { source: 'de', text: 'Das Überprüfen der Dateisysteme dauert.' },
    { source: 'ru', text: 'Мельницы стоят у реки.' },
    { source: 'zh', text: '我家的猫喜欢睡觉。' },
    { source: 'ja', text: '東京タワーに登りました。' },
    { source: 'th', text: 'แมวนอนอยู่บนโต๊ะ' },
    { source: 'ko', text: '고양이가 잠을 잔다.' },
    { source: 'ar', text: 'القِطَّة تنام على الطاولة' },
    { source: 'code', text: 'function parseHttpHeader(raw_value) { return ERR_INVALID_2 }' },
    { source: 'en', text: 'Quercetin is a flavonoid in onions. See version 2.10.3 of the café guide.' },
  ],
  cases: [
    ['Dateisystem prüfen', 'de'],
    ['ÜBERPRÜFEN', 'de'],
    ['мельница', 'ru'],
    ['猫', 'zh'],
    ['睡觉', 'zh'],
    ['東京', 'ja'],
    ['นอนอยู่', 'th'],
    ['แมว', 'th'],
    ['고양이', 'ko'],
    ['القطة', 'ar'],
    ['header', 'code'],
    ['parse http header', 'code'],
    ['rawValue', 'code'],
    ['err_invalid_2', 'code'],
    ['quercitin', 'en'],
    ['flavonoids', 'en'],
    ['2.10.3', 'en'],
    ['CAFÉ', 'en'],
  ],
}

type FilterCase = readonly [filter: ChunkFilter, found: readonly string[]]

/** @throws ConfigurationError for an unknown capability. */
export function documentStoreSuite(
  name: string,
  create: () => MaybePromise<StoreUnderTest>,
  { describe, it }: Runner,
  { claims = STORE_CAPABILITIES }: StoreSuiteOptions = {},
): void {
  const missing = unclaimed(STORE_CAPABILITIES, claims)
  const test = (title: string, run: (store: DocumentStore, reopen: () => Promise<DocumentStore>) => Promise<void>): void => {
    it(title, async () => {
      const underTest = await create()
      const opened: DocumentStore[] = []
      const open = async (): Promise<DocumentStore> => {
        const store = await underTest.open()
        opened.push(store)
        return store
      }
      const reopen = async (): Promise<DocumentStore> => {
        if (underTest.forgets === true) return opened.at(-1) ?? (await open())
        await opened.at(-1)?.close()
        return await open()
      }
      try {
        await run(await open(), reopen)
      } finally {
        for (const store of opened) await store.close()
        await underTest.remove()
      }
    })
  }
  const claimed = (capability: StoreCapability, title: string, run: (store: DocumentStore) => Promise<void>): void => {
    if (claims.includes(capability)) test(title, run)
  }

  describe(`${name}${missing}`, () => {
    test('CORE-STORE-001 finds appended documents at once and after reopening', async (store, reopen) => {
      await store.append(MILL)
      assert.deepEqual(sources(await store.retrieve('mill', 5)), ['mill.md'])
      const again = await reopen()
      const [found] = await again.retrieve('mill', 5)
      assert.equal(found?.source, 'mill.md')
      assert.equal(found.text, MILL.text.slice(found.start, found.end))
    })

    test('CORE-STORE-001 returns the best chunks first, at most the requested number', async (store) => {
      await store.extend(SUITE_DOCUMENTS)
      const found = await store.retrieve('flour from the mill', 5)
      assert.deepEqual(sources(found), ['bakery.md', 'mill.md'])
      assert.deepEqual(
        found,
        found.toSorted((a, b) => b.score - a.score),
      )
      assert.deepEqual(sources(await store.retrieve('flour from the mill', 1)), ['bakery.md'])
      for (const none of [0, -1]) assert.deepEqual(await store.retrieve('mill', none), [])
    })

    test('CORE-STORE-001 accepts strings, iterables and async iterables', async (store) => {
      await store.append('A note about turbines.')
      await store.extend(new Set([MILL, 'A note about sails.']))
      await store.extend(
        (async function* () {
          yield await Promise.resolve(BAKERY)
        })(),
      )
      for (const query of ['turbines', 'sails', 'wheel', 'bread']) assert.equal((await store.retrieve(query, 5)).length, 1, query)
    })

    test('a chunk names its source, and its range in the source is its text', async (store) => {
      const sentence = (at: number): string => `Sentence number ${at} speaks of ${at % 7 === 0 ? 'herons' : 'sparrows'}.`
      const text = Array.from({ length: 400 }, (_, at) => sentence(at)).join(' ')
      const metadata = { year: 1874, tags: ['birds'], nested: { deep: null } }
      await store.append({ source: 'birds.txt', title: 'Birds 🐦', text, metadata })
      const found = await store.retrieve('herons', 100)
      assert.ok(found.length > 1)
      assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
      for (const chunk of found) {
        assert.equal(chunk.source, 'birds.txt')
        assert.equal(chunk.title, 'Birds 🐦')
        assert.equal(text.slice(chunk.start, chunk.end), chunk.text)
        assert.deepEqual({ ...chunk.metadata, ...metadata }, chunk.metadata)
        assert.ok(Number.isFinite(chunk.score) && chunk.score > 0)
      }
    })

    test('a document replaces an earlier one with the same source', async (store, reopen) => {
      await store.extend(SUITE_DOCUMENTS)
      await store.append({ ...MILL, text: 'The windmill on the hill.' })
      const again = await reopen()
      assert.deepEqual(await again.retrieve('wheel', 5), [])
      assert.deepEqual(sources(await again.retrieve('windmill hill', 5)).slice(0, 1), ['mill.md'])
    })

    test('adding the same document again changes nothing', async (store) => {
      await store.extend(SUITE_DOCUMENTS)
      const before = await store.retrieve('the mill by the river', 10)
      await store.extend(SUITE_DOCUMENTS)
      await store.append(MILL)
      assert.deepEqual(await store.retrieve('the mill by the river', 10), before)
    })

    test('deletes a source, and reports whether it existed', async (store, reopen) => {
      await store.extend(SUITE_DOCUMENTS)
      assert.equal(await store.delete('mill.md'), true)
      assert.equal(await store.delete('mill.md'), false)
      assert.equal(await store.delete("' OR 1=1 --"), false)
      const again = await reopen()
      assert.deepEqual(await again.retrieve('wheel flood', 5), [])
      assert.deepEqual(sources(await again.retrieve('bread', 5)), ['bakery.md'])
    })

    test('CORE-STORE-001 reset removes everything, and the store stays usable', async (store, reopen) => {
      await store.extend(SUITE_DOCUMENTS)
      await store.reset()
      await store.reset()
      assert.deepEqual(await store.retrieve('mill', 5), [])
      const again = await reopen()
      assert.deepEqual(await again.retrieve('mill', 5), [])
      await again.append(MILL)
      assert.deepEqual(sources(await again.retrieve('mill', 5)), ['mill.md'])
    })

    claimed('order', 'results do not depend on the order of additions, changes and removals', async (store) => {
      const fresh = await create()
      const other = await fresh.open()
      try {
        const documents = Array.from({ length: 60 }, (_, at) => documentOf(at))
        for (const document of documents.toReversed())
          await store.append({ ...document, text: `${document.text} obsolete words` })
        for (const document of documents) await store.append(document)
        for (let at = 60; at < 90; at++) await store.append(documentOf(at))
        for (let at = 60; at < 90; at++) await store.delete(documentOf(at).source)
        await other.extend(documents)
        for (const query of ['word3', 'word1 word2 word5', 'common rare7', 'obsolete', 'wordd3', 'rare1 rare2 common word6']) {
          assert.deepEqual(await store.retrieve(query, 100), await other.retrieve(query, 100), query)
        }
      } finally {
        await other.close()
        await fresh.remove()
      }
    })

    test('treats any query as plain text', async (store) => {
      for (const query of AWKWARD_QUERIES) assert.deepEqual(await store.retrieve(query, 5), [], `empty store: ${query}`)
      await store.extend(SUITE_DOCUMENTS)
      const folds = claims.includes('word-forms')
      for (const query of AWKWARD_QUERIES) {
        if (!folds && /\p{L}\p{M}/u.test(query)) continue
        const found = await store.retrieve(query, 5)
        const says = /(?<!multi.*)mill/u.test(query.normalize('NFKD').replaceAll(/\p{M}/gu, ''))
        assert.equal(sources(found).includes('mill.md'), says, JSON.stringify(query))
      }
    })

    claimed('stop-words', 'finds nothing for stop words', async (store) => {
      await store.extend(SUITE_DOCUMENTS)
      assert.deepEqual(await store.retrieve('what is the', 5), [])
    })

    test('searches with a question of a million characters', async (store) => {
      await store.extend(SUITE_DOCUMENTS)
      const noise = Array.from({ length: 10_000 }, (_, at) => `noise${at}`).join(' ')
      assert.deepEqual(sources(await store.retrieve(`${noise} wheel`, 5)), ['mill.md'])
      assert.deepEqual(sources(await store.retrieve('wheel '.repeat(170_000), 5)), ['mill.md'])
      assert.deepEqual(await store.retrieve('x'.repeat(1_000_000), 5), [])
    })

    claimed(
      'word-forms',
      'finds other forms of a word, misspellings, parts of names, and scripts without spaces',
      async (store) => {
        await store.extend(WORD_FORMS.documents)
        for (const [query, source] of WORD_FORMS.cases) assert.equal((await store.retrieve(query, 1))[0]?.source, source, query)
      },
    )

    /** Searches with each filter and compares the sources that are found. */
    const finds = async (store: DocumentStore, cases: readonly FilterCase[]): Promise<void> => {
      for (const [filter, found] of cases)
        assert.deepEqual(sources(await store.search('apple', { filter, limit: 20 })).sort(), found, JSON.stringify(filter))
    }

    claimed('filters', 'filters by source, title and metadata, and treats a value literally', async (store) => {
      await store.extend(FRUIT)
      await finds(store, [
        [{}, ['a', 'b', 'c']],
        [{ source: 'b' }, ['b']],
        [{ source: ['a', 'c', 'nowhere'] }, ['a', 'c']],
        [{ title: 'Two' }, ['b']],
        [{ title: null }, ['c']],
        [{ year: 1874 }, ['a']],
        [{ year: [1874, 1875], open: false }, ['b']],
        [{ open: true }, ['a']],
        [{ open: null }, ['c']],
        [{ tags: 'warm' }, ['a']],
        [{ "it's": 'odd' }, ['c']],
        [{ source: "' OR 1=1 --" }, []],
        [{ "') OR 1=1 --": 'x' }, []],
        [{ year: [] }, []],
        [{ toString: 'x' }, []],
        [{ ['__proto__']: 'x' }, []],
      ])
      const tooLong = { a: { glob: 'x'.repeat(5000) } }
      for (const filter of [null, [], 'a', { year: {} }, { year: [{ glob: 1 }] }, { year: undefined }, tooLong])
        await assert.rejects(async () => store.search('apple', { filter: filter as never }), /filter/i)
      assert.equal((await store.search('apple pie', { filter: { year: [1875, '1874'] }, limit: 1 })).length, 1)
    })

    claimed('patterns', 'filters may contain patterns, whose other characters are literal', async (store) => {
      await store.extend(FRUIT)
      await finds(store, [
        [{ title: { glob: 'T*' } }, ['b']],
        [{ tags: { glob: 'sw*' } }, ['a']],
        [{ source: { glob: '%' } }, []],
        [{ source: { glob: "*' OR 1=1 --" } }, []],
        [{ source: { glob: '*'.repeat(2000) } }, ['a', 'b', 'c']],
      ])
    })

    claimed('patterns', 'path filters accept shell glob patterns', async (store) => {
      const paths = ['docs/a.md', 'docs/deep/b.md', 'docs/c.txt', 'src/a.ts', '/home/x/a.md', 'https://example.com/docs/d.html']
      await store.extend([...paths, 'Docs/e.md'].map((source) => ({ source, text: 'apple' })))
      await finds(store, [
        [{ source: { glob: 'docs/**' } }, ['docs/a.md', 'docs/c.txt', 'docs/deep/b.md']],
        [{ source: { glob: 'docs/*' } }, ['docs/a.md', 'docs/c.txt']],
        [{ source: { glob: 'docs/**/*.md' } }, ['docs/a.md', 'docs/deep/b.md']],
        [{ source: { glob: '*.md' } }, ['/home/x/a.md', 'Docs/e.md', 'docs/a.md', 'docs/deep/b.md']],
        [{ source: { glob: '{src,docs}/a.*' } }, ['docs/a.md', 'src/a.ts']],
        [{ source: { glob: '/home/x/**' } }, ['/home/x/a.md']],
        [{ source: { glob: 'https://example.com/**' } }, ['https://example.com/docs/d.html']],
        [{ source: { glob: '[' } }, []],
        [{ source: [{ glob: '!docs/**' }, { glob: '!*.html' }] }, ['/home/x/a.md', 'Docs/e.md', 'src/a.ts']],
        [{ source: ['src/a.ts', { glob: 'docs/deep/**' }] }, ['docs/deep/b.md', 'src/a.ts']],
      ])
    })

    claimed('filters', 'a filter finds chunks that rank below any number of others', async (store) => {
      await store.extend(
        Array.from({ length: 300 }, (_, at) => ({ source: `pear-${at}`, text: 'pear pear pear', metadata: { wanted: false } })),
      )
      await store.append({
        source: 'wanted',
        text: 'one pear among very many other things that grow on trees',
        metadata: { wanted: true },
      })
      assert.deepEqual(sources(await store.search('pear', { filter: { wanted: true }, limit: 3 })), ['wanted'])
    })

    claimed('surroundings', 'around returns the neighbours of a chunk and the text that spans them', async (store) => {
      assert.ok(store.around !== undefined, 'it has no method `around`')
      const paragraphs = Array.from(
        { length: 12 },
        (_, at) => `Paragraph ${at} on herons. ${`It says word${at} often. `.repeat(40)}`,
      )
      const text = `  ${paragraphs.join('\n\n\n')}\n`
      await store.append({ source: 'birds.txt', text: text.replace('word5', 'changed') })
      await store.append({ source: 'birds.txt', text })
      const all = await store.retrieve('herons paragraph', 100)
      const starts = new Set((await store.retrieve('says', 100)).concat(all).map(({ start }) => start))
      for (const chunk of all) {
        const around: Surroundings | undefined = await store.around(chunk.id, { chunks: 1 })
        assert.ok(around !== undefined)
        const { chunks, start }: Surroundings = around
        assert.equal(around.text, text.slice(start, start + around.text.length))
        assert.deepEqual([start, start + around.text.length], [chunks[0]?.start, chunks.at(-1)?.end])
        const at = chunks.findIndex(({ id }) => id === chunk.id)
        assert.ok(at >= 0 && at <= 1 && chunks.length <= at + 2)
        if (at === 0) assert.equal(Math.min(...starts), chunk.start)
        for (const each of chunks) assert.equal(each.source, 'birds.txt')
      }
      assert.equal(await store.around('nowhere', { chunks: 1 }), undefined)
      const [first] = all
      assert.deepEqual((await store.around(first?.id ?? '', { chunks: 0 }))?.text, first?.text)
    })

    test('returns all equal chunks, in a stable order', async (store, reopen) => {
      const copies = Array.from({ length: 40 }, (_, at) => ({ source: `copy-${at}`, text: 'The same words in every copy.' }))
      await store.extend(copies)
      const found = await store.retrieve('same words', 40)
      assert.equal(new Set(sources(found)).size, 40)
      assert.deepEqual(sources(await store.retrieve('same words', 7)), sources(found).slice(0, 7))
      const again = await reopen()
      assert.deepEqual(await again.retrieve('same words', 40), found)
    })

    test('keeps any text, but replaces lone surrogates', async (store, reopen) => {
      const text = 'Zeppelin \u0000 null, \ud800 lone, \u202e turned, 👩‍👩‍👧 joined,\r\n lines\u2028 and more.'
      await store.append({ source: 'odd \u0000 name\udfff', title: 'odd \ud800', text })
      const again = await reopen()
      const [found] = await again.retrieve('zeppelin', 1)
      assert.equal(found?.text, text.toWellFormed().slice(found?.start, found?.end))
      assert.equal(found?.source, 'odd \u0000 name\ufffd')
      assert.equal(await again.delete('odd \u0000 name\udfff'), true)
    })

    test('an empty document is kept without chunks', async (store) => {
      await store.extend([
        { source: 'empty', text: '' },
        { source: 'blank', text: ' \n ' },
        ...(claims.includes('stop-words') ? [{ source: 'stop', text: 'the of and' }] : []),
      ])
      assert.deepEqual(await store.retrieve('the', 5), [])
      assert.equal(await store.delete('empty'), true)
    })

    test('errors name the wrong document or option', async (store) => {
      const endless: Record<string, unknown> = {}
      endless['self'] = endless
      const odd = { source: 'x', text: 'x', metadata: endless }
      for (const document of [undefined, null, 7, {}, { source: '', text: 'x' }, { source: 'x' }, { text: 'x' }, odd]) {
        await assert.rejects(() => store.append(document as never), /document/i)
      }
      await assert.rejects(() => store.retrieve('mill', Number.NaN), /number/)
      await assert.rejects(() => store.retrieve(undefined as never, 5), /query/i)
      const reason = new Error('enough')
      await assert.rejects(() => store.search('mill', { signal: AbortSignal.abort(reason) }), reason)
    })

    claimed('evidence', 'evidence measures how much of the query the chunk contains', async (store) => {
      await store.extend(SUITE_DOCUMENTS)
      const [whole] = await store.retrieve('stone bridge', 1)
      const [part] = await store.retrieve('stone cathedral', 1)
      assert.ok(whole?.evidence !== undefined && part?.evidence !== undefined, 'the chunks carry no evidence')
      assert.ok(Math.abs(whole.evidence.coverage - 1) < 1e-9)
      assert.ok(part.evidence.coverage > 0 && part.evidence.coverage < 0.9)
      assert.equal(Object.keys(part.evidence.weights).length, 2)
    })
  })
}

function documentOf(at: number): SourceDocument {
  const words = Array.from({ length: 5 + (at % 9) }, (_, place) => `word${(at * 7 + place * place) % 11}`)
  return { source: `document-${at}`, title: `Title ${at % 5}`, text: `common ${words.join(' ')} rare${at % 13}` }
}

function sources(chunks: readonly ScoredChunk[]): string[] {
  return chunks.map(({ source }) => source)
}
