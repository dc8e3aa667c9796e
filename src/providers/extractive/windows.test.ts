import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import { readUnits } from './sentences.ts'
import { readWindows } from './windows.ts'
import { wordCounter } from './words.ts'

const windowsOf = (text: string, limit: number): string[] =>
  readWindows(text, readUnits(text), limit).map(({ start, end }) => text.slice(start, end))

test('neighbouring sentences are quoted together as far as they fit', () => {
  expect(windowsOf('One two. Three four. Five six.', 4)).toEqual([
    'One two.',
    'One two. Three four.',
    'Three four.',
    'Three four. Five six.',
    'Five six.',
  ])
})

test('list items, and sentences of different paragraphs, are quoted alone', () => {
  expect(windowsOf('One two.\n\nThree four.\n- five\n- six', 10)).toEqual(['One two.', 'Three four.', 'five', 'six'])
})

test('what announces an answer is no answer', () => {
  expect(windowsOf('# Colours\n\nThe colours are:\n- red\n\n| a | b |\n|---|---|\n| c | d |', 10)).toEqual([
    'The colours are:\n- red',
    'red',
    'c',
    'd',
  ])
  expect(windowsOf('# Colours', 10)).toEqual([])
})

test('a sentence that is too long is cut between clauses', () => {
  expect(windowsOf('The red fox, which was old, ran to the den; it slept.', 6)).toEqual([
    'The red fox, which was old',
    'ran to the den; it slept.',
  ])
})

test('a place and its state, or initials, are not torn apart', () => {
  expect(windowsOf('They met in Washington, D.C. on that cold day, and left.', 10)).toEqual([
    'They met in Washington, D.C. on that cold day',
    'and left.',
  ])
})

test('a clause that is too long is cut between words', () => {
  expect(windowsOf('one two three four five six seven', 3)).toEqual(['one two three', 'four five six', 'seven'])
})

test('text without spaces is cut between characters, never within one', () => {
  const text = '𠮷'.repeat(50)
  for (const window of windowsOf(text, 10)) expect(window.replaceAll('𠮷', '')).toBe('')
})

test('no window is longer than the limit, all are slices without loose ends', () => {
  const piece = fc.constantFrom(
    'fox ',
    'den, ',
    'run. ',
    'The ',
    '(so) ',
    '漢字',
    '; ',
    ' – ',
    'https://a.example/b ',
    '\n',
    '1,000 ',
    '\n1. ',
    '\n2. ',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join('')),
      fc.integer({ min: 1, max: 12 }),
      (text, limit) => {
        const count = wordCounter(text)
        for (const { start, end, length } of readWindows(text, readUnits(text), limit, true)) {
          expect(length).toBe(count(start, end))
          expect(length).toBeLessThanOrEqual(limit)
          expect(text.slice(start, end)).toBe(text.slice(start, end).trim())
          expect(end).toBeGreaterThan(start)
        }
      },
    ),
  )
})

test('numbered steps are windows from the first one on, and go on in further ones', () => {
  const text =
    'Bread:\n\n1. Mix the flour with water. Wait.\n2. Add salt.\n3. Fold the dough twice.\n4. Bake it.\n\n- no step\n\n1. Alone.'
  const numbered = readWindows(text, readUnits(text), 10, true).filter(({ start }) => /^\d/.test(text.slice(start)))
  expect(numbered.map(({ start, end }) => text.slice(start, end))).toEqual([
    '1. Mix the flour with water. Wait.\n2. Add salt.',
    '3. Fold the dough twice.\n4. Bake it.',
  ])
  expect(numbered.map(({ goesOnAt }) => goesOnAt)).toEqual([numbered[1]?.start, undefined])
  expect(windowsOf(text, 10).some((window) => /^\d/.test(window))).toBe(false)
})

test.each([
  ['a step that announces the next', '1. Mix:\n2. Wait.', []],
  ['a list within a step', '1. Mix.\n   - flour\n   - salt\n2. Wait.', ['1. Mix.\n   - flour\n   - salt\n2. Wait.']],
  ['another list', '1. Mix.\n2. Wait.\n\n1. Sing.\n2. Dance.', ['1. Mix.\n2. Wait.', '1. Sing.\n2. Dance.']],
  ['years and numbers', '3. Mix.\n4. Wait.\n\nIn 1. Mix.', []],
])('of numbered steps: %s', (_, text, expected) => {
  const numbered = readWindows(text, readUnits(text), 20, true).filter(({ start }) => /^\d/.test(text.slice(start)))
  expect(numbered.map(({ start, end }) => text.slice(start, end))).toEqual(expected)
})

test('giant units are cut in one pass', () => {
  const elapsed = stopwatch()
  for (const text of ['word, '.repeat(50_000), 'a'.repeat(300_000), '漢'.repeat(100_000), 'word '.repeat(50_000)]) {
    expect(readWindows(text, readUnits(text), 40).length).toBeGreaterThan(0)
  }
  expect(elapsed()).toBeLessThan(8000)
})
