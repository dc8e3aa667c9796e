import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawTable, fitTable, readTable } from './tables.ts'
import { longestWord } from './tables.ts'
import { widthOf } from '../../util/cells.ts'

const draw = (markdown: string, columns: number): string => {
  const table = readTable(markdown)
  if (table === undefined) throw new Error('no table')
  return drawTable(table, columns)
}

describe('what is read', () => {
  test.each([
    ['| a | b |\n|---|---|\n| 1 | 2 |', ['a', 'b'], [['1', '2']], ['left', 'left']],
    ['a | b\n:-:|-:\n1 | ', ['a', 'b'], [['1']], ['center', 'right']],
    ['| a |\n|---|\n| x \\| y |\n| z\\\\|', ['a'], [['x \\| y'], ['z\\\\']], ['left']],
    ['| | b |\n|---|---|\n| | 2 | 3 |', ['', 'b'], [['', '2', '3']], ['left', 'left']],
  ] as const)('%j', (markdown, header, rows, aligns) => {
    expect(readTable(markdown)).toEqual({ header, rows, aligns, mark: undefined })
  })

  test('what has no delimiters is no table', () => {
    expect(readTable('| a | b |')).toBeUndefined()
    expect(readTable('| a | b |\n| c | d |')).toBeUndefined()
  })

  test('a table in a list keeps its number', () => {
    expect(draw('2. | a | b |\n   |---|---|\n   | 1 | 2 |', 40)).toBe('2.\n┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘')
  })
})

const STEPS = `| Step | What to do |
|-----:|------------|
| 1 | Add water and wait five minutes before you open the lid |
| 2 | 水を入れて、五分待ってから、蓋を開ける 🎉 |`

test('where there is room a row is a line', () => {
  expect(draw(STEPS, 80)).toBe(
    [
      '┌──────┬─────────────────────────────────────────────────────────┐',
      '│ Step │ What to do                                              │',
      '├──────┼─────────────────────────────────────────────────────────┤',
      '│    1 │ Add water and wait five minutes before you open the lid │',
      '│    2 │ 水を入れて、五分待ってから、蓋を開ける 🎉               │',
      '└──────┴─────────────────────────────────────────────────────────┘',
    ].join('\n'),
  )
})

test('where there is less a cell takes several lines, and rows are parted', () => {
  expect(draw(STEPS, 36)).toBe(
    [
      '┌──────┬───────────────────────────┐',
      '│ Step │ What to do                │',
      '├──────┼───────────────────────────┤',
      '│    1 │ Add water and wait five   │',
      '│      │ minutes before you open   │',
      '│      │ the lid                   │',
      '├──────┼───────────────────────────┤',
      '│    2 │ 水を入れて、五分待ってか  │',
      '│      │ ら、蓋を開ける 🎉         │',
      '└──────┴───────────────────────────┘',
    ].join('\n'),
  )
})

test('where words have no room side by side each row is a record', () => {
  expect(draw(STEPS, 18)).toBe(
    [
      'Step: 1',
      'What to do: Add',
      '  water and wait',
      '  five minutes',
      '  before you open',
      '  the lid',
      '',
      'Step: 2',
      'What to do: 水を',
      '  入れて、五分待っ',
      '  てから、蓋を開け',
      '  る 🎉',
    ].join('\n'),
  )
})

test('a table without rows shows its columns', () => {
  expect(draw('| first | second |\n|---|---|', 10)).toBe('first:\nsecond:')
})

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9.,()-]{1,14}$/),
  fc.constantFrom('https://example.org/a/long/path/of/a/page?with=query', '東京都', '日本語。', '🎉', 'naïve', '한국어', 'हिन्दी'),
)
const cell = fc.array(word, { maxLength: 15 }).map((words) => words.join(' '))

test.each([20, 80, 160])('every word of every cell stands in %i columns, and frames fit', (columns) => {
  const table = fc.constantFrom(1, 2, 5, 12).chain((count) => {
    const row = fc.array(cell, { minLength: count, maxLength: count })
    return fc.record({ header: row, rows: fc.array(row, { maxLength: 5 }), aligns: fc.constant([] as const) })
  })
  fc.assert(
    fc.property(table, (given) => {
      const drawn = drawTable(given, columns)
      const cells = [given.header, ...given.rows].flat()
      const shown = drawn.split(/[\s│]+/)
      for (const each of cells.flatMap((text) => text.split(' '))) {
        // Scripts without spaces are broken between characters.
        const isParted = longestWord(each) < widthOf(each)
        if (!isParted && each !== '') expect(shown.some((found) => found === each || found === `${each}:`)).toBe(true)
      }
      const letters = (text: string): string => [...text.replaceAll(/[\s│┌┐└┘├┤┬┴┼─:]/g, '')].toSorted().join('')
      const headers = drawn.startsWith('┌') ? 1 : Math.max(1, given.rows.length)
      expect(letters(drawn)).toBe(
        letters([...Array<readonly string[]>(headers).fill(given.header), ...given.rows].flat().join('')),
      )
      const longest = Math.max(...cells.map(longestWord)) + 3
      for (const line of drawn.split('\n')) {
        expect(widthOf(line)).toBeLessThanOrEqual(drawn.startsWith('┌') ? columns : Math.max(columns, longest))
      }
    }),
  )
})

test('a table of hundreds of thousands of words, or of rows, is drawn like any other', () => {
  const long = readTable(`|a|b|\n|-|-|\n|${'x y '.repeat(150_000)}|b|`)
  const many = readTable(`|a|b|\n|-|-|\n${'|x|y|\n'.repeat(150_000)}`)
  expect(long === undefined ? '' : drawTable(long, 80)).toContain('x y')
  expect(many === undefined ? '' : drawTable(many, 80)).toContain('x')
})

describe('a table without frames', () => {
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

  test.each([20, 50, 80])('in %i columns no word is parted or lost', (columns) => {
    const table = fc
      .integer({ min: 1, max: 7 })
      .chain((count) => fc.array(fc.array(cell, { minLength: count, maxLength: count })))
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
})
