/** Lines of separated values: files that are nothing else, and those that stand in a text. */

import { cellsOf, delimiterOf, DELIMITERS, headerOf, isNumber, namesColumns, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import type { Block } from './unit.ts'

/** Rows by which the delimiter and the names of the columns are told. */
const LOOKED_AT = 20

/**
 * A text that is a table, or a part of one.
 *
 * @param columns the names that stand above the part, none where it is the first.
 * @returns `undefined` where nothing parts cells.
 */
export function readTable(text: string, columns: readonly string[]): Block[] | undefined {
  const lines = text.split('\n', 2 * LOOKED_AT).filter((line) => line.trim() !== '')
  const separator = delimiterOf(lines.slice(0, LOOKED_AT))
  if (separator === undefined) return undefined
  const rows = Array.from(rowsOf(text, separator), ({ start, end }) => trimmed(text, start, end)).filter(
    ([from, to]) => from < to,
  )
  const head = rows.slice(0, LOOKED_AT).map(([from, to]) => cellsOf(text.slice(from, to), separator))
  const header =
    columns.length > 0 && columns.length === head[0]?.length && !sameNames(head[0], columns) ? undefined : headerOf(head)
  return rows.map(([start, end], index): Block => {
    if (index < (header ?? 0)) return { start, end, kind: 'sentence' }
    return { start, end, kind: index === header ? 'columns' : 'row', separator }
  })
}

function sameNames(cells: readonly string[], columns: readonly string[]): boolean {
  return cells.every((cell, index) => cell.replaceAll(/,\s+/g, ' ') === columns[index])
}

function trimmed(text: string, start: number, end: number): [number, number] {
  // A tab at the end parts an empty cell.
  const isSpace = (at: number): boolean => '\r\n '.includes(text.charAt(at))
  let from = start
  let to = end
  while (from < to && isSpace(from)) from++
  while (to > from && isSpace(to - 1)) to--
  return [from, to]
}

export interface RecordLine {
  readonly separator: Delimiter
  /** It names the columns of the lines below. */
  readonly isHeader: boolean
}

/** Of the lines of a text those that are records: in each paragraph what parts most lines into as many cells as their neighbours have. */
export function recordLines(lines: readonly string[]): ReadonlyMap<number, RecordLine> {
  const found = new Map<number, RecordLine>()
  for (let first = 0; first < lines.length; first++) {
    let end = first
    while (end < lines.length && lines[end]?.trim() !== '') end++
    if (end - first > 1) readParagraph(lines, first, end, found)
    first = end
  }
  return found
}

const IN_TEXT: readonly Delimiter[] = DELIMITERS.filter((delimiter) => delimiter !== '|')

function readParagraph(lines: readonly string[], first: number, end: number, found: Map<number, RecordLine>): void {
  let separator: Delimiter | undefined
  let records: number[] = []
  for (const delimiter of IN_TEXT) {
    const cells = lines.slice(first, end).map((line) => separatedCells(line, delimiter))
    const agreeing = cells.flatMap((count, at) =>
      count > 1 && (count === cells[at - 1] || count === cells[at + 1]) ? [first + at] : [],
    )
    if (agreeing.length <= records.length) continue
    separator = delimiter
    records = agreeing
  }
  if (separator === undefined) return
  for (const [index, line] of records.entries()) {
    const opens = index === 0 || records[index - 1] !== line - 1
    found.set(line, { separator, isHeader: opens && isHeader(lines, records.slice(index), separator) })
  }
}

/** Above text alone only the first line of all names columns: others may list anything. */
function isHeader(lines: readonly string[], records: readonly number[], separator: Delimiter): boolean {
  const [names = [], ...below] = records.slice(0, LOOKED_AT).map((line) => cellsOf(lines[line] ?? '', separator))
  return namesColumns(names, below) && (records[0] === 0 || below.some((cells) => cells.some(isNumber)))
}

/** How many cells a line has that is a record of separated values; 0 where it is none: prose puts a space after its commas. */
function separatedCells(line: string, delimiter: Delimiter): number {
  if (line.length > LONGEST_RECORD || !line.includes(delimiter)) return 0
  if (delimiter !== '\t' && isProse(line, delimiter)) return 0
  const cells = cellsOf(line, delimiter)
  return delimiter === '\t' && cells.includes('') ? 0 : cells.length
}

const SPACE_BEHIND: Readonly<Record<Exclude<Delimiter, '\t'>, RegExp>> = { ',': /,\s/u, ';': /;\s/u, '|': /\|\s/u }

function isProse(line: string, delimiter: Exclude<Delimiter, '\t'>): boolean {
  return /[.:;!?]\s*$/u.test(line) || SPACE_BEHIND[delimiter].test(line.replaceAll(/"[^"]*"/gu, '""'))
}

const LONGEST_RECORD = 2000
