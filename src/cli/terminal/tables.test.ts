import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawTable, fitTable, longestWord, padStyled, readTable, wrapStyled } from './tables.ts'
import { widthOf } from '../../util/cells.ts'

const draw = (markdown: string, columns: number): string => {
  const table = readTable(markdown)
  if (table === undefined) throw new Error('no table')
  return drawTable(table, columns)
}

describe('a Markdown table', () => {
  test.each([
    ['| a | b |\n|---|---|\n| 1 | 2 |', ['a', 'b'], [['1', '2']], ['left', 'left']],
    ['a | b\n:-:|-:\n1 | ', ['a', 'b'], [['1']], ['center', 'right']],
    ['| a |\n|---|\n| x \\| y |\n| z\\\\|', ['a'], [['x \\| y'], ['z\\\\']], ['left']],
    ['| | b |\n|---|---|\n| | 2 | 3 |', ['', 'b'], [['', '2', '3']], ['left', 'left']],
  ] as const)('%j', (markdown, header, rows, aligns) => {
    expect(readTable(markdown)).toEqual({ header, rows, aligns, mark: undefined })
  })

  test('needs delimiters', () => {
    expect(readTable('| a | b |')).toBeUndefined()
    expect(readTable('| a | b |\n| c | d |')).toBeUndefined()
  })

  test('in a list keeps its number', () => {
    expect(draw('2. | a | b |\n   |---|---|\n   | 1 | 2 |', 40)).toBe('2.\n┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘')
  })
})

const STEPS = `| Step | What to do |
|-----:|------------|
| 1 | Add water and wait five minutes before you open the lid |
| 2 | 水を入れて、五分待ってから、蓋を開ける 🎉 |`

test.each([
  [
    'a row takes one line if there is room',
    80,
    `
┌──────┬─────────────────────────────────────────────────────────┐
│ Step │ What to do                                              │
├──────┼─────────────────────────────────────────────────────────┤
│    1 │ Add water and wait five minutes before you open the lid │
│    2 │ 水を入れて、五分待ってから、蓋を開ける 🎉               │
└──────┴─────────────────────────────────────────────────────────┘`,
  ],
  [
    'long cells are wrapped, and rules separate the rows',
    36,
    `
┌──────┬───────────────────────────┐
│ Step │ What to do                │
├──────┼───────────────────────────┤
│    1 │ Add water and wait five   │
│      │ minutes before you open   │
│      │ the lid                   │
├──────┼───────────────────────────┤
│    2 │ 水を入れて、五分待ってか  │
│      │ ら、蓋を開ける 🎉         │
└──────┴───────────────────────────┘`,
  ],
  [
    'rows become records if their words do not fit side by side',
    18,
    `
Step: 1
What to do: Add
  water and wait
  five minutes
  before you open
  the lid

Step: 2
What to do: 水を
  入れて、五分待っ
  てから、蓋を開け
  る 🎉`,
  ],
])('%s', (_title, columns, drawn) => {
  expect(`\n${draw(STEPS, columns)}`).toBe(drawn)
})

test('a table without rows shows its header', () => {
  expect(draw('| first | second |\n|---|---|', 10)).toBe('first:\nsecond:')
})

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9.,()-]{1,14}$/),
  fc.constantFrom('https://example.org/a/long/path/of/a/page?with=query', '東京都', '日本語。', '🎉', 'naïve', '한국어', 'हिन्दी'),
)
const cell = fc.array(word, { maxLength: 15 }).map((words) => words.join(' '))

test.each([20, 80, 160])('in %i columns every word of every cell is whole, and frames fit', (columns) => {
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

  test.each([
    [
      'each cell continues under its column',
      50,
      `
provider  key                  state
openai    key from             reachable
          OPENAI_API_KEY
ollama    no key needed        not reachable:
                               nothing listens
                               there
`,
    ],
    [
      'columns that do not fit are placed below, in all rows alike',
      28,
      `
provider
          key
          state
openai
          key from
          OPENAI_API_KEY
          reachable
ollama
          no key needed
          not reachable:
          nothing listens
          there
`,
    ],
  ])('%s', (_title, columns, drawn) => {
    expect(`\n${fitTable(ROWS, [], columns)}`).toBe(drawn)
  })

  test('keeps right alignment and leading spaces', () => {
    const rows = [
      ['a', 'tokens in', 'the last one'],
      ['  b', '12', 'x'],
    ]
    expect(fitTable(rows, [1], 24)).toBe('a    tokens in  the last\n                one\n  b         12  x\n')
  })

  test.each([20, 50, 80])('in %i columns no word is broken or lost', (columns) => {
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

const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`
const RESET = '\u001B[0m'

test.each([
  ['', 10, ['']],
  ['one two three', 7, ['one two', 'three']],
  ['a-very-long-word is', 6, ['a-very-long-word', 'is']],
  ['東京都は日本の首都。', 8, ['東京都は', '日本の首', '都。']],
  ['四つの字。', 8, ['四つの', '字。']],
  ['tea 茶 🍵🍵🍵', 8, ['tea 茶', '🍵🍵🍵']],
  [`plain ${bold('bold words')} end`, 11, [`plain \u001B[1mbold${RESET}`, `\u001B[1mwords\u001B[22m end`]],
  [bold('trailing '), 8, [bold('trailing')]],
  [
    `\u001B[31m\u001B[1mred\u001B[22m still\u001B[39m`,
    4,
    [`\u001B[31m\u001B[1mred\u001B[22m${RESET}`, `\u001B[31mstill\u001B[39m`],
  ],
] as const)('%j in %i cells', (text, columns, lines) => {
  expect(wrapStyled(text, columns)).toEqual(lines)
})

test('the longest word is the longest unbreakable part', () => {
  expect([longestWord(''), longestWord('a bcd 東京'), longestWord(bold('five! x'))]).toEqual([0, 3, 5])
})

test('padding counts cells, without styles', () => {
  expect(padStyled(bold('東'), 5, 'center')).toBe(` ${bold('東')}  `)
  expect(padStyled('ab', 1, 'right')).toBe('ab')
})

test('wrapping loses nothing, exceeds no line, and ends the styles of each line', () => {
  const word = fc.oneof(fc.stringMatching(/^[a-z]{1,6}$/), fc.constantFrom('茶', '東京', '🍵', 'e\u0301', '👩‍👩‍👧'))
  const piece = fc.oneof(word, word.map(bold), fc.constant('\u001B[36mx y\u001B[39m'))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 6, max: 40 }), (pieces, columns) => {
      const text = pieces.join(' ')
      const lines = wrapStyled(text, columns)
      // eslint-disable-next-line no-control-regex
      const plain = (styled: string): string => styled.replaceAll(/\u001B\[[\d;]*m|\s/g, '')
      expect(plain(lines.join(''))).toBe(plain(text))
      for (const line of lines) {
        expect(widthOf(line)).toBeLessThanOrEqual(columns)
        const begun = line.includes('\u001B[1m')
        expect(!begun || line.includes('\u001B[22m') || line.endsWith(RESET)).toBe(true)
      }
    }),
  )
})

test('a repeated style is carried to the next line once', () => {
  const lines = wrapStyled('\u001B[1maa '.repeat(2000), 2)
  expect(lines).toHaveLength(2000)
  expect(lines.at(-1)).toBe('\u001B[1m\u001B[1maa\u001B[0m')
})
