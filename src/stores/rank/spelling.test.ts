import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MemoryDocumentStore } from '../../index.ts'
import { editsBetween, nearestTerm } from './spelling.ts'

const VOCABULARY = [
  'ownership',
  'uninstal',
  'instal',
  'virtual',
  'torch',
  'chosen',
  'close',
  'password',
  'progress',
  'prog',
  'yaml2',
].map((term, at) => ({ term, frequency: at + 1 }))
const like = (first: string, least: number, most: number): typeof VOCABULARY =>
  VOCABULARY.filter(({ term }) => term.startsWith(first) && term.length >= least && term.length <= most)
const meant = (word: string, stem = word): string | undefined => nearestTerm(word, stem, like)?.term

describe('correcting a term', () => {
  test.each([
    ['ownrship', undefined, 'ownership'],
    ['unistall', 'unistal', 'uninstal'],
    ['virtaul', undefined, 'virtual'],
    ['progres', 'progr', 'progress'],
    ['Pasword', undefined, 'password'],
    ['chose', undefined, 'chosen'],
  ])('%s is corrected to %s', (word, stem, expected) => {
    expect(meant(word, stem ?? word.toLowerCase())).toBe(expected)
  })

  test.each([
    ['another sound makes another word', 'touch'],
    ['short words have too many neighbours', 'clos'],
    ['a different first letter', 'iownership'],
    ['an added digit', 'yaml3'],
    ['a stem that is short by chance', 'closs'],
    ['scripts without spaces are searched otherwise', '所有権について'],
  ])('%s: %s is not corrected', (_, word) => {
    expect(meant(word)).toBeUndefined()
  })
})

test.each([
  ['kitten', 'kitten', 0],
  ['virtaul', 'virtual', 1],
  ['colour', 'color', 1],
  ['seperate', 'separate', 1],
  ['wipe', 'type', undefined],
])('from %s to %s: %s edits', (a, b, edits) => {
  expect(editsBetween(a, b, 1)).toBe(edits)
  expect(editsBetween(b, a, 1)).toBe(edits)
})

test('QRY-RAG-014 searches a misspelt word as the documents spell it, and returns both spellings', async () => {
  const store = new MemoryDocumentStore()
  await store.extend([
    { source: 'a.md', text: 'Ownership moves with the value.' },
    { source: 'b.md', text: 'Sheep graze on the hill.' },
  ])
  const [best] = await store.search('what is ownrship')
  expect(best).toMatchObject({ source: 'a.md', evidence: { corrections: { ownrship: 'ownership' } } })
  const [known] = await store.search('what is ownership')
  expect(known?.evidence).not.toHaveProperty('corrections')
})

test('QRY-RAG-014 weighs a word whose correction no passage shows: it is asked for all the same', async () => {
  const store = new MemoryDocumentStore()
  await store.extend([
    { source: 'a.md', text: 'A movement began in South Africa.' },
    { source: 'b.md', text: 'Diverse plants grow on the hill.' },
  ])
  const [best] = await store.search('the divestment movement in South Africa', { limit: 1 })
  expect(best).toMatchObject({ source: 'a.md', evidence: { corrections: {}, weights: { divest: expect.any(Number) } } })
  expect(best?.evidence?.weights['divest']).toBeGreaterThan(0)
})

test('finds every term that is near enough, for any letters', () => {
  const word = fc
    .array(fc.constantFrom('a', 'b', 't', 'd', 'ж', 'ю'), { minLength: 5, maxLength: 11 })
    .map((letters) => letters.join(''))
  const slips = fc.array(fc.tuple(fc.nat(11), fc.constantFrom('', 'a', 'b', 'ж')), { maxLength: 2 })
  fc.assert(
    fc.property(word, slips, (typed, changes) => {
      let term = typed
      for (const [at, letter] of changes) term = term.slice(0, at) + letter + term.slice(at + 1)
      const found = nearestTerm(typed, typed, () => [{ term, frequency: 1 }])
      expect(found !== undefined).toBe(editsBetween(typed, term, typed.length >= 9 ? 2 : 1) !== undefined)
    }),
  )
})
