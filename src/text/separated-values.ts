/** Reads rows of separated values: detects the delimiter, row ends, and the row that names the columns. */

import { lineAt } from '../util/lines.ts'
import { patternFor } from '../util/pattern.ts'
import type { Range } from '../util/range.ts'

export type Delimiter = ',' | ';' | '\t' | '|'

/** A comma comes last, because it is also a decimal separator. */
export const DELIMITERS: readonly Delimiter[] = ['\t', ';', '|', ',']

/** Longest quoted row in UTF-16 units; beyond it a closing quote must be missing. */
const LONGEST_QUOTED_ROW = 65_536

/** Splits a line into cells outside of quotes, keeping empty ones; a quote opens a cell only at its start. */
export function cellsOf(line: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  let from = 0
  let isOpen = false
  let atStart = true
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === '"') {
      if (isOpen) isOpen = false
      // A doubled quote closes and reopens the cell.
      else isOpen = atStart || line.charAt(at - 1) === '"'
      atStart = false
    } else if (!isOpen && character === delimiter) {
      cells.push(unquoted(line.slice(from, at)))
      from = at + 1
      atStart = true
    } else if (character !== ' ') atStart = false
  }
  cells.push(unquoted(line.slice(from)))
  return cells
}

function unquoted(cell: string): string {
  const body = cell.trim()
  return body.length > 1 && body.startsWith('"') && body.endsWith('"') ? body.slice(1, -1).replaceAll('""', '"').trim() : body
}

/** Returns the delimiter that splits most lines into equally many cells; `undefined` if no delimiter splits two lines, or the only line. */
export function delimiterOf(lines: readonly string[]): Delimiter | undefined {
  let best: Delimiter | undefined
  let most = 0
  for (const delimiter of DELIMITERS) {
    const agreeing = mostCommon(lines.map((line) => cellsOf(line, delimiter).length).filter((cells) => cells > 1)).times
    if (agreeing <= most || (agreeing === 1 && lines.length > 1)) continue
    best = delimiter
    most = agreeing
  }
  return best
}

/** Returns the most frequent number; of several, the first. */
function mostCommon(numbers: readonly number[]): { readonly value: number; readonly times: number } {
  const times = new Map<number, number>()
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1)
  let value = 0
  let most = 0
  for (const [number, found] of times) {
    if (found <= most) continue
    value = number
    most = found
  }
  return { value, times: most }
}

/** Yields the rows of a text; quoted rows may span lines. After an unclosed quote, each line is a row. */
export function* rowsOf(text: string, delimiter: Delimiter, lineBreak = '\n'): Generator<Range> {
  let trustsQuotes = true
  for (let start = 0; start < text.length;) {
    let row = lineAt(text, start, text.length, lineBreak)
    if (trustsQuotes) {
      let isOpen = opensQuote(text, row.start, row.end, delimiter, false)
      while (isOpen && row.next < text.length && row.next - start < LONGEST_QUOTED_ROW) {
        row = lineAt(text, row.next, text.length, lineBreak)
        isOpen = opensQuote(text, row.start, row.end, delimiter, true)
      }
      if (isOpen) {
        trustsQuotes = false
        row = lineAt(text, start, text.length, lineBreak)
      }
    }
    yield { start, end: row.end }
    start = row.next
  }
}

/** Reports whether a quoted cell is open at the end of a line. A quote opens a cell only at its start. */
function opensQuote(text: string, start: number, end: number, delimiter: string, wasOpen: boolean): boolean {
  let isOpen = wasOpen
  let atCellStart = !wasOpen
  for (let at = start; at < end; at++) {
    const character = text.charAt(at)
    if (isOpen) {
      if (character === '"') isOpen = false
    } else if (character === '"') {
      // A doubled quote closes and reopens the cell.
      isOpen = atCellStart || text.charAt(at - 1) === '"'
    }
    atCellStart = !isOpen && character === delimiter
  }
  return isOpen
}

const SIGNS = patternFor(String.raw`[\p{S}%#]`, 'gu')
const NUMBER = /^[+-]?(?:\d[\d\s.,'’_]*|[.,]\d+)$/
/** Days, months, quarters and years, which are column names if figures follow below. */
const PERIOD = /^(?:1[5-9]|20|21)\d\d(?:[-/.](?:\d{1,2}(?:[-/.]\d{1,2})?|\d{4}|Q[1-4]))?$|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$/
const ADDRESS = /^[^\s@]+@[^\s@]+$|^(?:https?:|\/\/|www\.)\S+$|^\d{1,3}(?:\.\d{1,3}){3}$/i
const CLOCK = /^\d{1,2}:\d\d(?::\d\d)?$|^\d{4}-\d\d-\d\d[T ]\S+$/
const LONGEST_NAME = 80

function isNumber(cell: string): boolean {
  return NUMBER.test(cell.replaceAll(SIGNS(cell), '').trim())
}

/** Reports whether a cell holds a figure, a time or an address, which no column is named after. */
function isValue(cell: string): boolean {
  return isNumber(cell) || ADDRESS.test(cell) || CLOCK.test(cell) || PERIOD.test(cell)
}

/** Returns the letters of a cell that also has digits: those of `K12` and `K7` are the same. */
function shapeOf(cell: string): string | undefined {
  return /\d/.test(cell) ? cell.replaceAll(/\d+/g, '0') : undefined
}

/**
 * Reports whether the first row of a table names its columns.
 *
 * Names are distinct and are not values; `q1`, `co2` and `ipv4` are names, unless the cells below have the same shape. Years, or consecutive
 * numbers, are names if the values below them are of another kind.
 *
 * @param below some of the following rows.
 */
function namesColumns(first: readonly string[], below: readonly (readonly string[])[]): boolean {
  const [corner = '', ...others] = first
  if (others.length === 0 || new Set(first).size < first.length || first.some((cell) => cell.length > LONGEST_NAME)) return false
  if (others.includes('') || isValue(corner)) return false
  const columns = first.map((_, column) => below.map((row) => row[column] ?? '').filter((cell) => cell !== ''))
  const looksLikeBelow = first.some((cell, column) => {
    const shape = shapeOf(cell)
    return shape !== undefined && !isValue(cell) && columns[column]?.some((value) => shapeOf(value) === shape) === true
  })
  if (looksLikeBelow) return false
  const values = others.filter(isValue)
  if (values.length === 0) return true
  const areValuesBelow = first.every(
    (cell, column) => !isValue(cell) || (columns[column]?.every((value) => !PERIOD.test(value)) ?? false),
  )
  if (!areValuesBelow || below.length === 0) return false
  return values.every((cell) => PERIOD.test(cell)) || (values.length > 2 && countsOn(values))
}

function countsOn(cells: readonly string[]): boolean {
  return cells.every((cell, index) => /^\d+$/.test(cell) && Number(cell) === Number(cells[0]) + index)
}

/**
 * Finds the row that names the columns among the first rows: a title or a note may precede it.
 *
 * @param rows the cells of each row.
 */
export function headerOf(rows: readonly (readonly string[])[]): number | undefined {
  const { value: usual } = mostCommon(rows.map(({ length }) => length).filter((length) => length > 1))
  const isNote = (row: readonly string[]): boolean => row.filter((cell) => cell !== '').length < 2
  const index = rows.findIndex((row) => row.length === usual && !isNote(row))
  const first = rows[index]
  const isAmongNotes = rows.slice(0, Math.max(0, index)).some((row) => !isNote(row))
  return first !== undefined && !isAmongNotes && namesColumns(first, rows.slice(index + 1)) ? index : undefined
}

/** Returns the cells of a row of a Markdown table. */
export function cellsOfRow(row: string): string[] {
  return row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}
