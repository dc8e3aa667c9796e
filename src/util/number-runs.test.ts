import { expect, test } from 'vitest'
import { numbersIn } from './number-runs.ts'

test.each([
  ['The mill cost 1,200 francs.', '1,200', ['1,200']],
  ['It holds 1,234,567.89 litres.', '1,234,567.89', ['1,234,567.89']],
  ['It holds 12,34,567 litres.', '12,34,567', ['12,34,567']],
  ['Sie kostet 1.234,56 Euro.', '1.234,56', ['1.234,56']],
  ['Sie wiegt 3,5 Tonnen', '3,5', ['3,5']],
  ['“It cost 1,200,” he said.', '1,200', ['1,200']],
  ['"1,200," he said', '1,200', ['1,200']],
  ['the 1,200th', '1,200th', ['1,200th']],
  ['at 10:30', '10:30', ['10:30']],
  ['version 1.2.3', '1.2.3', ['1.2.3']],
  ['[1,2,3]', '1,2,3', ['1', '2', '3']],
  ['Oak board,18.00,12', '18.00,12', ['18.00', '12']],
  ['Oak board,120,400', '120,400', ['120', '400']],
  ['120,400,Oak board', '120,400', ['120', '400']],
  ['"Oak board",120,400', '120,400', ['120', '400']],
  ['120,400,"Oak board"', '120,400', ['120', '400']],
  ['Oak board,"1,200",B', '1,200', ['1,200']],
  ['2020,120,40', '2020,120,40', ['2020', '120', '40']],
])('%s: %s is %j', (text, run, expected) => {
  const start = text.indexOf(run)
  expect(numbersIn(text, start, start + run.length).map(([from, to]) => text.slice(from, to))).toEqual(expected)
})
