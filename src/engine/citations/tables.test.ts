import { describe, expect, test } from 'vitest'
import { tablesIn } from './tables.ts'

/** Each table as its rows, the one with the names first (`-` where there is none), cells parted by `|`. */
function read(text: string, named?: readonly string[]): string[][] {
  return tablesIn(text, named).map(({ header, rows }) =>
    [header, ...rows].map((row) => row?.cells.map(({ start, end }) => text.slice(start, end)).join('|') ?? '-'),
  )
}

describe('tablesIn', () => {
  test.each([
    ['pipes with a rule', 'Said before.\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\nSaid after.', [['a|b', '1|2']]],
    ['pipes without a frame', 'a | b\n--- | ---\n1 | 2\n3 | 4', [['a|b', '1|2', '3|4']]],
    ['rows without a head', '| 1 | 2 |\n| 3 | 4 |', [['-', '1|2', '3|4']]],
    ['empty cells, and cells that were left out', '| a | b | c |\n|-|-|-|\n| 1 | | 3 |\n| 4 |', [['a|b|c', '1||3', '4']]],
    ['a pipe in code, and one that is escaped', '| a | b |\n|-|-|\n| `x|y` | p \\| q |', [['a|b', '`x|y`|p \\| q']]],
    ['commas', 'a,b\n1,2\n3,4', [['a|b', '1|2', '3|4']]],
    ['semicolons, with commas in numbers', 'a;b\nx;1,5\ny;2,5', [['a|b', 'x|1,5', 'y|2,5']]],
    ['tabs', 'a\tb\n1\t\n3\t4', [['a|b', '1|', '3|4']]],
    ['a quoted value with a comma and a line break', 'a,b\n"x, y","p\nq"\n3,4', [['a|b', '"x, y"|"p\nq"', '3|4']]],
    ['a first row that holds values', '1,2\n3,4', [['-', '1|2', '3|4']]],
    [
      'two tables',
      '| a | b |\n|-|-|\n| 1 | 2 |\n\nSaid between.\n\nc,d\n3,4',
      [
        ['a|b', '1|2'],
        ['c|d', '3|4'],
      ],
    ],
    ['Windows line ends', 'a,b\r\n1,2\r\n', [['a|b', '1|2']]],
    ['prose with commas', 'They ground rye, barley and oats.\nIt stood in Ludbury, by the lock.', []],
    ['code', 'f(a,b)\ng(c,d)', []],
    ['JSON', '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', []],
    ['one line with a comma', 'Ludbury,Aldwick', []],
    ['nothing', '', []],
  ])('reads %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  test('where the names are known from elsewhere, the first row is no head', () => {
    expect(read('PAY-1,low,Omar\nPAY-2,high,Lena')).toEqual([['PAY-1|low|Omar', 'PAY-2|high|Lena']])
    expect(read('PAY-1,low,Omar\nPAY-2,high,Lena', ['ticket', 'level', 'owner'])).toEqual([
      ['-', 'PAY-1|low|Omar', 'PAY-2|high|Lena'],
    ])
  })

  test('lines that are no table are read once, however many', () => {
    expect(tablesIn('|a|\n'.repeat(100_000))).toEqual([])
    expect(tablesIn(`a,b\n${'c,d\n'.repeat(200_000)}`)[0]?.rows).toHaveLength(200_000)
  })

  test('the heading and the line that announces it belong to a table', () => {
    const text = '# Boats\n\nWe let them.\n\nPrices in pounds:\n\n| a | b |\n|-|-|\n| 1 | 2 |'
    expect(tablesIn(text)[0]?.captions.map(({ start, end }) => text.slice(start, end))).toEqual(['# Boats', 'Prices in pounds:'])
  })
})
