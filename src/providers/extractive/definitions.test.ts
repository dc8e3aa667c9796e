import { expect, test } from 'vitest'
import { definedName, describedLines } from './definitions.ts'
import { readUnits } from './sentences.ts'

test.each([
  ['export function open(path: string): Lock {', 'open'],
  ['export class Book<T> extends Shelf {', 'Book'],
  ['closeMonth(until: string): void {', 'closeMonth'],
  ['export const MAX_LINES = 64', 'MAX_LINES'],
  ['def fill(lock):', 'fill'],
  ['func (r *Reader) Read(p []byte) (int, error) {', 'Read'],
  ['public static int count(int[] all) {', 'count'],
  ['pub fn open(&self) -> Lock {', 'open'],
  ['timeout: 30', 'timeout'],
  ['book.total()', undefined],
  ['if (open) {', undefined],
  ['return open(lock)', undefined],
  ["test('open opens', () => {", undefined],
  ["['a lock', open({ slow: true })],", undefined],
  ['}', undefined],
])('%j defines %j', (text, expected) => {
  const name = definedName(text, { start: 0, end: text.length, kind: 'code', block: 1 })
  expect(name === undefined ? undefined : text.slice(...name)).toBe(expected)
})

test('a remark speaks of the line right below it, or of the one that its docstring stands under', () => {
  const text =
    '# Of the lock.\n\n# Opens it.\n@slow\ndef open():\n    """Waits first.\n\n    Then opens."""\n    return 3\n\n# Closes it.\ndef close():\n    pass\n'
  const units = readUnits(text, { isCode: true })
  const described = [...describedLines(text, units)].map(([remark, line]) => [
    text.slice(remark.start, remark.end),
    text.slice(line.start, line.end),
  ])
  expect(described).toEqual([
    ['Opens it.', 'def open():'],
    ['Waits first.', 'def open():'],
    ['Then opens.', 'def open():'],
    ['Closes it.', 'def close():'],
  ])
})
