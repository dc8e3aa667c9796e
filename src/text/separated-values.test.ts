import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellsOf, delimiterOf, headerOf, rowsOf } from './separated-values.ts'

test.each([
  ['a,b,c', ',', ['a', 'b', 'c']],
  ['"a, b",c,', ',', ['a, b', 'c', '']],
  ['"says ""no""";2,5', ';', ['says "no"', '2,5']],
  ['5" pipe,2', ',', ['5" pipe', '2']],
  ['a\t\tb', '\t', ['a', '', 'b']],
] as const)('%j parted by %j', (line, delimiter, expected) => {
  expect(cellsOf(line, delimiter)).toEqual(expected)
})

test.each([
  [['a,b', '1,2'], ','],
  [['a;b', '1,5;2,5', '2,5;3'], ';'],
  [['1,5;2,5', '2,5;3,5'], ';'],
  [['Name, full;Price', 'Lark, small;1', 'Swift;2'], ';'],
  [['a,b;c', '1,2', '3,4'], ','],
  [['a|b', '1|2'], '|'],
  [['report of May', 'a\tb', '1\t2'], '\t'],
  [['one word', 'another'], undefined],
])('finds the delimiter of %j', (lines, expected) => {
  expect(delimiterOf(lines)).toBe(expected)
})

const TABLES: Readonly<Record<string, readonly [rows: string, header: number | undefined]>> = {
  'digits in names': ['region,q1,q2|South,14,22', 0],
  'and above text': ['host,ipv4|alder,10.0.0.4', 0],
  'text above text': ['name,role|Ada,lead', 0],
  'years above figures': ['city,2021,2022|Oslo,14,15', 0],
  'years above years': ['Oslo,2021,2022|Rome,1999,2001', undefined],
  'months by number': ['city,1,2,3|Oslo,40,50,70', 0],
  'a corner without a name': [',2021,2022|Oslo,14,15', 0],
  'a title above': ['Sales|region,sum|South,4|North,5', 1],
  'a title in the first cell': ['Sales,,|region,sum,open|South,4,1|North,5,2', 1],
  'a delimiter line of a spreadsheet': ['sep=,|region,sum|South,4', 1],
  figures: ['Oslo,14|Rome,15', undefined],
  'codes above codes': ['K1,kettle|K2,pot', undefined],
  'a date': ['Oslo,2021-02-03|Rome,2021-04-05', undefined],
  'a name twice': ['a,a|1,2', undefined],
  'an address': ['Ada,ada@example.org|Bo,bo@example.org', undefined],
  'a single column': ['name|Ada', undefined],
}

test.each(Object.entries(TABLES))('names of columns: %s', (_, [rows, expected]) => {
  expect(headerOf(rows.split('|').map((row) => row.split(',')))).toBe(expected)
})

test('rows are in text order, and contain every character but line breaks', () => {
  const piece = fc.constantFrom('a', '"', '""', ',', ';', '\n', '\r\n', ' ', '1,5')
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      (text) => {
        let last = 0
        for (const { start, end } of rowsOf(text, ',')) {
          expect(text.slice(last, start)).toMatch(/^\r?\n?$/)
          expect(end).toBeGreaterThanOrEqual(start)
          last = end
        }
        expect(text.slice(last)).toMatch(/^\r?\n?$/)
      },
    ),
  )
})
