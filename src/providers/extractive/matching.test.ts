import { expect, test } from 'vitest'
import { isVariant, termMatcher } from './matching.ts'
import { readQuestion } from './question.ts'
import { readWords } from './words.ts'

test.each([
  ['italy', 'italian', true],
  ['mongol', 'mongolian', true],
  ['betwen', 'between', true],
  ['recieve', 'receive', true],
  ['general', 'generic', true],
  ['cart', 'care', false],
  ['house', 'mouse', true],
  ['harbour', 'harbor', true],
  ['letter', 'lettre', true],
  ['letter', 'lertte', false],
  ['stone', 'atones', false],
  ['mill', 'milk', false],
  ['contain', 'continent', false],
  ['1874', '1875', false],
])('%s and %s are variants: %s', (a, b, expected) => {
  expect(isVariant(a, b)).toBe(expected)
  expect(isVariant(b, a)).toBe(expected)
})

test.each<[string, string, Record<string, number>]>([
  ['Who wrote the two songs?', 'She composed II of the song, an author', { wrote: 0.5, two: 1, songs: 1 }],
  ['How was Italy defeated?', 'The Italian army lost', { italy: 0.7, defeated: 0.5 }],
  ['Wer baute die Mühle?', 'Die Mühlen wurden gebaut', { mühle: 0.7 }],
])('%j is matched by %j', (question, text, expected) => {
  const read = readQuestion(question)
  const match = termMatcher(read)
  const found: Record<string, number> = {}
  for (const word of readWords(text)) {
    const { term, strength } = match(word) ?? {}
    if (term !== undefined && strength !== undefined) found[readQuestion(question).terms[term]?.lower ?? ''] = strength
  }
  expect(found).toMatchObject(
    Object.fromEntries(Object.entries(expected).map(([word, strength]) => [readWords(word)[0]?.lower, strength])),
  )
})
