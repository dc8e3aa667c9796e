/** The tables in a text, by its look alone: Markdown with pipes, and values parted by commas, semicolons or tabs. */

import type { Delimiter } from '../../text/separated-values.ts'
import type { Range } from './range.ts'

export interface Table {
  /** The row that names the columns, where it stands in the text. */
  readonly header?: TableRow
  readonly rows: readonly TableRow[]
  /** The heading and the line right above it. */
  readonly captions: readonly Range[]
}

export interface TableRow extends Range {
  /** One for each column, without what parts them; empty where nothing stands there. */
  readonly cells: readonly Range[]
}

/** UTF-16 units of a row; what is longer is no row, and costs too much to be read as one. */
const LONGEST_ROW = 8000
/** Lines that a quoted value may go over. */
const LONGEST_VALUE = 20
/** UTF-16 units of a line above a table that says what the table is about. */
const LONGEST_CAPTION = 160

/** @param named the names of the columns, where the text may be a part of a table and they are known from elsewhere. */
export function tablesIn(text: string, named?: readonly string[]): Table[] {
  if (!/[|,;\t]/.test(text)) return []
  const lines = linesOf(text)
  const tables: Table[] = []
  let heading: Range | undefined
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    if (line === undefined) break
    if (/^\s{0,3}#{1,6}\s/.test(text.slice(line.start, Math.min(line.end, line.start + 12)))) heading = line
    const below = lines[at + 1]
    const isHead = below !== undefined && isRule(text.slice(below.start, Math.min(below.end, below.start + LONGEST_ROW)))
    const separator = isHead && text.slice(line.start, line.end).includes('|') ? '|' : separatorOf(text, line)
    const found = separator === undefined ? undefined : tableFrom(text, lines, at, separator, named)
    if (found?.table !== undefined) tables.push({ ...found.table, captions: captionsOf(text, lines, at, heading) })
    at = found?.next ?? at + 1
  }
  return tables
}

function linesOf(text: string): Range[] {
  const lines: Range[] = []
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    const stop = end === -1 ? text.length : end
    lines.push({ start, end: text[stop - 1] === '\r' ? Math.max(start, stop - 1) : stop })
    start = stop + 1
  }
  return lines
}

/** What parts the values of a line, if anything does: prose has a space behind its commas and a stop at its end. */
function separatorOf(text: string, { start, end }: Range): Delimiter | undefined {
  if (end - start > LONGEST_ROW) return undefined
  const line = text.slice(start, end)
  if (/^\s*\|.*\|\s*$/.test(line)) return '|'
  if (line.trim() === '' || /[.:!?{}]\s*$/.test(line)) return undefined
  if (line.includes('|') && line.split('|').length > 2) return '|'
  if (/\S\t/.test(line)) return '\t'
  const bare = line.replaceAll(/"[^"]*(?:"|$)/g, '""')
  const counted = ([';', ','] as const).map((mark) => ({ mark, count: bare.split(mark).length - 1 }))
  const [best] = counted.sort((a, b) => b.count - a.count)
  if (best === undefined || best.count === 0) return undefined
  const parts = bare.split(best.mark)
  // What opens in a value closes in it, unless it is code.
  const isPlain = parts.every((part) => !/[{}]|=>/.test(part) && part.split('(').length === part.split(')').length)
  return isPlain && !parts.some((part, at) => at > 0 && /^\s/.test(part)) ? best.mark : undefined
}

function tableFrom(
  text: string,
  lines: readonly Range[],
  first: number,
  separator: Delimiter,
  named: readonly string[] | undefined,
): { readonly table?: Omit<Table, 'captions'>; readonly next: number } | undefined {
  const rows: TableRow[] = []
  const isFramed = separator === '|' && text.slice(lines[first]?.start, lines[first]?.end).trimStart().startsWith('|')
  let rule: number | undefined
  let next = first
  while (next < lines.length) {
    const line = lines[next]
    if (line === undefined) break
    if (separator === '|' && isRule(text.slice(line.start, line.end))) {
      if (rule !== undefined) break
      rule = rows.length
      next++
      continue
    }
    const last = separator === '|' ? next : lastLineOfRow(text, lines, next)
    const range = { start: line.start, end: lines[last]?.end ?? line.end }
    const isRow =
      separator === '|' ? text.slice(range.start, range.end).includes('|') : last > next || separatorOf(text, line) === separator
    if (!isRow || range.end - range.start > LONGEST_ROW) break
    const cells = cellsOf(text, range, separator)
    // Markdown lets the last cells of a row go; elsewhere a line with more or fewer values is no row.
    if (!isFramed && rule === undefined && rows[0] !== undefined && rows[0].cells.length !== cells.length) break
    rows.push({ ...range, cells })
    next = last + 1
  }
  const [top] = rows
  if (top === undefined) return undefined
  const columns = named?.length
  const isKnown = columns !== undefined && top.cells.length === columns
  // A line alone is a row where a rule or the names of as many columns say so.
  if (rows.length < 2 && rule === undefined && !isKnown && !isFramed) return undefined
  // No part of such rows is a table either.
  if (rows.every(({ cells }) => cells.filter(({ start, end }) => end > start).length < 2)) return { next }
  const hasHeader = rule === undefined ? separator !== '|' && namesColumns(text, top, isKnown ? named : undefined) : rule > 0
  const header = rule !== undefined && rule > 0 ? rows[rule - 1] : hasHeader ? top : undefined
  const data = rows.filter((row) => row !== header)
  return { table: { rows: data, ...(header === undefined ? {} : { header }) }, next }
}

function isRule(line: string): boolean {
  return line.includes('-') && line.includes('|') && /^[\s|:+-]+$/.test(line)
}

/** A value in quotation marks may go over several lines. */
function lastLineOfRow(text: string, lines: readonly Range[], first: number): number {
  let open = false
  for (let at = first; at < lines.length && at < first + LONGEST_VALUE; at++) {
    const { start, end } = lines[at] ?? { start: 0, end: 0 }
    if (end - start > LONGEST_ROW) break
    for (const character of text.slice(start, end)) if (character === '"') open = !open
    if (!open) return at
  }
  return first
}

function cellsOf(text: string, { start, end }: Range, separator: Delimiter): Range[] {
  const cells: Range[] = []
  const line = text.slice(start, end)
  let from = start
  let quoted = false
  const push = (to: number): void => {
    cells.push(trimmed(text, from, to))
    from = to + 1
  }
  for (let at = start; at < end; at++) {
    const character = text[at]
    if (separator === '|') {
      if (character === '\\') at++
      else if (character === '`') {
        const close = line.indexOf('`', at + 1 - start)
        if (close !== -1) at = start + close
      } else if (character === '|') push(at)
    } else if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) push(at)
  }
  push(end)
  if (separator !== '|') return cells
  const isEmpty = (cell: Range | undefined): boolean => cell !== undefined && cell.start === cell.end
  const opens = line.trimStart().startsWith('|')
  const closes = line.trimEnd().endsWith('|')
  return cells.slice(opens ? 1 : 0, closes && isEmpty(cells.at(-1)) ? -1 : cells.length)
}

function trimmed(text: string, start: number, end: number): Range {
  const said = text.slice(start, end)
  const from = start + (said.length - said.trimStart().length)
  return from >= end ? { start, end: start } : { start: from, end: start + said.trimEnd().length }
}

/** Names are different from each other and hold no values; where they are known from elsewhere, the first row has to be these. */
function namesColumns(text: string, { cells }: TableRow, named: readonly string[] | undefined): boolean {
  const names = cells.map(({ start, end }) => text.slice(start, end).replaceAll('"', '').trim())
  if (named !== undefined) return names.every((name, at) => name === named[at])
  return (
    names.length > 1 &&
    names.every((name) => name !== '' && !/^[+-]?[\d.,:/\s%$€£-]+$/.test(name)) &&
    new Set(names).size === names.length
  )
}

/** A short line right above that is no sentence, and the heading. */
function captionsOf(text: string, lines: readonly Range[], first: number, heading: Range | undefined): Range[] {
  const isBlank = (line: Range | undefined): boolean => line !== undefined && text.slice(line.start, line.end).trim() === ''
  let at = first - 1
  while (isBlank(lines[at])) at--
  const above = lines[at]
  const captions = heading === undefined ? [] : [heading]
  if (above === undefined || above === heading || above.end - above.start > LONGEST_CAPTION) return captions
  const said = text.slice(above.start, above.end).trimEnd()
  const announces = said.endsWith(':') || (!/[.!?|]$/.test(said) && (at === 0 || isBlank(lines[at - 1])))
  return announces ? [...captions, above] : captions
}
