import { expect, test } from 'vitest'
import { standsLiterally } from './literal.ts'

const TEXT = 'The mill was built in 1874. It does not\nstart by itself. It starts (see 2.1) with a rod.\n- Oil it [often].'

test.each([
  ['The mill was built in 1874.', 'The mill was built in 1874.'],
  ['It does not start by itself.', 'It does not\nstart by itself.'],
  ['It starts (see 2.1)', 'It starts (see 2.1)'],
  ['Oil it [often].', 'Oil it [often].'],
])('QRY-RAG-022 whole sentences are found whatever their line breaks: %s', (words, expected) => {
  const range = standsLiterally(words, TEXT)
  expect(TEXT.slice(range?.start, range?.end)).toBe(expected)
})

test.each(['start by itself.', 'mill was built', 'The mill was built in 187', 'It starts by itself.', '', 'a '.repeat(2000)])(
  'QRY-RAG-022 a part of a sentence, half a word or other words are looked at closely: %s',
  (words) => {
    expect(standsLiterally(words, TEXT)).toBeUndefined()
  },
)

test('words without end are not searched for', () => {
  expect(standsLiterally('a '.repeat(999).trim(), 'a '.repeat(1e6))).toBeUndefined()
})
