import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitTable } from './fit-table.ts'
import { longestWord } from './styled.ts'
import { widthOf } from '../../util/cells.ts'

const ROWS = [
  ['provider', 'key', 'state'],
  ['openai', 'key from OPENAI_API_KEY', 'reachable'],
  ['ollama', 'no key needed', 'not reachable: nothing listens there'],
]

test('each cell goes on under its column', () => {
  expect(fitTable(ROWS, [], 50)).toBe(
    `${[
      'provider  key                  state',
      'openai    key from             reachable',
      '          OPENAI_API_KEY',
      'ollama    no key needed        not reachable:',
      '                               nothing listens',
      '                               there',
    ].join('\n')}\n`,
  )
})

test('columns that have no room beside the others stand below, in all rows alike', () => {
  expect(fitTable(ROWS, [], 28)).toBe(
    `${[
      'provider',
      '          key',
      '          state',
      'openai',
      '          key from',
      '          OPENAI_API_KEY',
      '          reachable',
      'ollama',
      '          no key needed',
      '          not reachable:',
      '          nothing listens',
      '          there',
    ].join('\n')}\n`,
  )
})

test('numbers stay aligned to the right, and what a cell begins with stays', () => {
  const rows = [
    ['a', 'tokens in', 'the last one'],
    ['  b', '12', 'x'],
  ]
  expect(fitTable(rows, [1], 24)).toBe('a    tokens in  the last\n                one\n  b         12  x\n')
})

const word = fc.oneof(fc.stringMatching(/^[a-z:.]{1,12}$/), fc.constantFrom('東京都', '🍵', 'https://example.org/a/long/one'))
const cell = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '))

test.each([20, 50, 80])('in %i columns no word is parted or lost', (columns) => {
  const table = fc.integer({ min: 1, max: 7 }).chain((count) => fc.array(fc.array(cell, { minLength: count, maxLength: count })))
  fc.assert(
    fc.property(table, fc.array(fc.nat(6)), (rows, right) => {
      const lines = fitTable(rows, right, columns).split('\n')
      const letters = (text: string): string => [...text.replaceAll(/\s/g, '')].toSorted().join('')
      expect(letters(lines.join(''))).toBe(letters(rows.flat().join('')))
      const shown = new Set(lines.join(' ').split(/\s+/))
      for (const each of rows.flat().flatMap((text) => text.split(' ')))
        expect(each === '' || longestWord(each) < widthOf(each) || shown.has(each)).toBe(true)
      const longest = Math.max(0, ...rows.flat().map(longestWord)) + Math.floor(columns / 2)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, longest))
    }),
  )
})
