import { expect, test } from 'vitest'
import type { GoldQuestion } from './collection.ts'
import { comparePredictions, compareRankings } from './comparison.ts'
import { comparisonHtml, comparisonMarkdown, htmlText, markdownText } from './report.ts'

const HOSTILE = '</td><script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) `|` & "q" \u202E\u001B[2J'

const judgments = new Map([
  ['q1', new Map([['mill', 1]])],
  ['q2', new Map([['bridge', 2]])],
  ['q3', new Map([[HOSTILE, 1]])],
  ['none', new Map([['mill', 0]])],
])
const queries = new Map([
  ['q1', 'Where is the mill?'],
  ['q2', 'stone bridge'],
  ['q3', HOSTILE],
])
const runOf = (lists: Readonly<Record<string, readonly string[]>>): Map<string, { id: string; score: number }[]> =>
  new Map(Object.entries(lists).map(([query, ids]) => [query, ids.map((id, at) => ({ id, score: 10 - at }))]))

const comparison = compareRankings(
  {
    collection: HOSTILE,
    names: ['a.run', '<b>'],
    baseline: runOf({ q1: ['bridge', 'mill'], q2: ['bridge'] }),
    system: runOf({ q1: ['mill'], q2: ['mill', 'bridge'], q3: ['mill', HOSTILE.slice(0, 30)], unknown: ['mill'] }),
  },
  judgments,
  queries,
)

test('runs are compared over the queries that have a relevant document, and failures list the documents found', () => {
  expect(comparison.questions).toBe(3)
  expect(comparison.measures.map(({ measure }) => measure)).toEqual(['ndcg10', 'recall10', 'recall100', 'mrr10', 'map'])
  expect(comparison.measures.find(({ measure }) => measure === 'mrr10')).toMatchObject({
    baseline: 0.5,
    system: 0.5,
    difference: 0,
    wins: 1,
    losses: 1,
    ties: 1,
    pRandomization: 1,
  })
  expect(comparison.failures.map(({ id, found, expected }) => [id, expected, found])).toEqual([
    ['q3', [HOSTILE], ['mill', HOSTILE.slice(0, 30)]],
    ['q2', ['bridge'], ['mill', 'bridge']],
  ])
})

test('escapes text of a collection in the HTML report', () => {
  const html = comparisonHtml(comparison)
  const tags = new Set([...html.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, tag]) => tag?.toLowerCase()))
  expect([...tags].filter((tag) => !ALLOWED.includes(tag ?? ''))).toEqual([])
  expect(html).not.toMatch(/<[^>]*\son\w+=/i)
  expect(html).not.toMatch(/<[^>]*\b(?:src|href)=/)
  for (const hidden of ['\u202E', '\u001B']) expect(html).not.toContain(hidden)
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(html.match(/<svg/g)).toHaveLength(2)
})

const ALLOWED = '! !doctype html head meta title style body h1 h2 p table tr td th ol li svg line circle rect text'.split(' ')

test('escapes text of a collection in the Markdown report', () => {
  const page = comparisonMarkdown(comparison)
  expect(page).not.toMatch(/<(?:script|img|\/td)/)
  expect(page).not.toContain('](javascript')
  expect(page).toContain('| ndcg10 |')
  expect(page).toMatch(/^1\. \*\*q3\*\* /m)
})

test.each([
  ['a\nb\u2028c\u0000d', 'a b c d', 'a b c d'],
  ['<a href="x">', '&lt;a href=&quot;x&quot;&gt;', '&lt;a href\\="x"&gt;'],
  ['see https://x.org/?a=1', 'see https://x.org/?a=1', 'see https&#58;//x.org/?a\\=1'],
  ['\uD800', '\uFFFD', '\uFFFD'],
])('escapes %j', (text, html, markdown) => {
  expect(htmlText(text)).toBe(html)
  expect(markdownText(text)).toBe(markdown)
})

test('answers are compared question by question, and abstaining from unanswerable questions counts as right', () => {
  const questions: GoldQuestion[] = [
    { id: 'a', question: 'Who built it?', answers: ['Ida Marsh'], docIds: ['d1'] },
    { id: 'u', question: 'Who sold it?', answers: [], docIds: [] },
  ]
  const documents = new Map([['d1', 'Ida Marsh built it in 1874.']])
  const right = { id: 'a', answer: 'Ida Marsh', quote: 'Ida Marsh built it', docId: 'd1' }
  const compared = comparePredictions(
    {
      collection: 'town',
      names: ['before', 'after'],
      baseline: [{ id: 'u', answer: 'Ida', quote: 'Ida Marsh', docId: 'd1' }],
      system: [right, { id: 'u', answer: '', quote: '', docId: '' }],
    },
    questions,
    documents,
  )
  expect(compared.measures.map(({ measure, baseline, system }) => [measure, baseline, system])).toEqual([
    ['inQuote', 0, 1],
    ['exactMatch', 0, 1],
    ['f1', 0, 1],
    ['right', 0, 1],
  ])
  expect(compared.failures).toEqual([])
})

test('writes a page for an empty comparison', () => {
  const empty = compareRankings({ collection: '', names: ['', ''], baseline: new Map(), system: new Map() }, new Map(), new Map())
  expect(comparisonHtml(empty)).toContain('None.')
  expect(comparisonMarkdown(empty)).toContain('None.')
})
