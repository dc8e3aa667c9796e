import { expect, test } from 'vitest'
import { wrappedRows, wrapWords } from './cells.ts'

test.each([
  ['fits', 'one two', 7, 'one two'],
  ['does not', 'one two three', 8, 'one two\n  three'],
  [
    'has a word that is longer than a row',
    'see https://example.org/a/long/path there',
    12,
    'see\n  https://example.org/a/long/path\n  there',
  ],
  ['has lines of its own', 'one two\nthree four', 8, 'one two\nthree\n  four'],
  ['has an indented line', 'one\n    two three four', 14, 'one\n    two three\n    four'],
  ['has wide characters', '日本 日本', 8, '日本\n  日本'],
  ['is empty', '', 8, ''],
])('a text that %s', (_, text, columns, wrapped) => {
  expect(wrapWords(text, columns, 2)).toBe(wrapped)
})

test('when words are split, the next word follows on the last row of a long word', () => {
  expect(wrappedRows('see https://example.org/a/path and more', 10)).toEqual([
    'see',
    'https://ex',
    'ample.org/',
    'a/path and',
    'more',
  ])
})
