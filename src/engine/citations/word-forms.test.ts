import { describe, expect, test } from 'vitest'
import { areFormsOfOneWord, bagHasFormOf, bagOf } from './word-forms.ts'

describe('areFormsOfOneWord', () => {
  test.each([
    ['mill', 'mill', true],
    ['mill', 'mills', true],
    ['drops', 'dropped', true],
    ['mühle', 'mühlen', true],
    ['heiz', 'heizungen', false],
    ['heizung', 'heizungen', true],
    ['rye', 'ryes', false],
    ['interest', 'internal', false],
    ['form', 'formidable', false],
    ['1874', '18740', false],
    ['水车', '水车房', false],
  ])('%s, %s: %s', (a, b, expected) => {
    expect(areFormsOfOneWord(a, b)).toBe(expected)
    expect(areFormsOfOneWord(b, a)).toBe(expected)
  })
})

test.each([
  ['mills', true],
  ['rye', true],
  ['flooding', true],
  ['flour', false],
  ['mi', false],
])('a bag of mill, ryes and flood has a form of %s: %s', (word, expected) => {
  expect(bagHasFormOf(bagOf(['mill', 'ryes', 'flood']), word)).toBe(expected)
})

test('a bag has each word once', () => {
  expect([...bagOf(['mill', 'mills', 'mill', 'rye']).values()]).toEqual([['mill', 'mills'], ['rye']])
})
