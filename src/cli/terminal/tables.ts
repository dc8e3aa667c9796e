/**
 * Reads Markdown tables, and draws tables and styled text in the columns of a terminal. Cells that are too wide wrap between words, and no word
 * is lost. Tables of answers have frames, tables of commands have none.
 */

import { cellsOf, graphemes, widthOf } from '../../util/cells.ts'
import { styledParts } from '../../util/terminal.ts'

type Row = readonly string[]

/** Minimum cells of a column that is wrapped. */
const NARROWEST = 8
/** Cells between columns. */
const GAP = 2
const INDENT = '  '

/** A table of an answer. Rows may have different numbers of cells. */
export interface AnswerTable {
  /** The marker of the list item that holds the table. */
  readonly mark?: string | undefined
  readonly header: Row
  readonly rows: readonly Row[]
  readonly aligns: readonly Align[]
}

const LIST_MARK = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\|)/
const DELIMITERS = /^[\s|:-]+$/

/** Parses a Markdown table (GFM, 4.10): header, delimiters, rows. Cells remain Markdown. `undefined` without delimiters. */
export function readTable(markdown: string): AnswerTable | undefined {
  const [header = '', delimiters = '', ...rows] = markdown.split('\n').filter((line) => line.trim() !== '')
  if (!delimiters.includes('-') || !DELIMITERS.test(delimiters)) return undefined
  const aligns = cellsOfRow(delimiters).map((cell) => {
    if (!cell.endsWith(':')) return 'left'
    return cell.startsWith(':') ? 'center' : 'right'
  })
  const mark = LIST_MARK.exec(header)?.[0]
  return { mark: mark?.trim(), header: cellsOfRow(header.slice(mark?.length ?? 0)), rows: rows.map(cellsOfRow), aligns }
}

/** Splits a row into cells. An escaped `\|` belongs to its cell, which keeps the backslash. */
function cellsOfRow(line: string): Row {
  const row: string[] = ['']
  for (const cell of line.trim().match(/(?:\\[\s\S]|[^|\\]|\\$)+|\|/g) ?? []) {
    if (cell === '|') row.push('')
    else row[row.length - 1] = cell.trim()
  }
  if (row[0] === '' && row.length > 1) row.shift()
  if (row.at(-1) === '' && row.length > 1) row.pop()
  return row
}

/**
 * Draws a table in lines of at most `columns` cells, except for longer words: with frames, or, where the words of a row do not fit side by side,
 * as records with a line `Column: value` per cell. Cells may hold styles.
 */
export function drawTable({ mark, header, rows, aligns }: AnswerTable, columns: number): string {
  const all = filled([header, ...rows])
  const count = all[0]?.length ?? 0
  const widths = columnWidths(all, columns - 3 * count - 1)
  const drawn = widths === undefined ? records(all, rows.length > 0, columns) : frames(all, widths, aligns)
  return mark === undefined ? drawn : `${mark}\n${drawn}`
}

function frames(rows: readonly Row[], widths: readonly number[], aligns: readonly Align[]): string {
  const rules = widths.map((width) => '─'.repeat(width + 2))
  const between = `├${rules.join('┼')}┤`
  const [header = [], ...body] = rows.map((row) => rowLines(row, widths, aligns, ' │ ').map((line) => `│ ${line} │`))
  // Rows of several lines are separated by rules, which show where the next row begins.
  const parted = body.some((lines) => lines.length > 1)
  const shown = body.flatMap((lines, index) => (parted && index > 0 ? [between, ...lines] : lines))
  return [`┌${rules.join('┬')}┐`, ...header, between, ...shown, `└${rules.join('┴')}┘`].join('\n')
}

/** Draws each row as a record; a table without rows as its header. */
function records([header = [], ...rows]: readonly Row[], hasRows: boolean, columns: number): string {
  const lineOf = (name: string, value = ''): string => {
    const line = [...(name === '' ? [] : [`${name}:`]), value].join(' ').trimEnd()
    return wrapStyled(line, columns - INDENT.length).join(`\n${INDENT}`)
  }
  const recordOf = (row: Row): string => {
    const lines = header.map((name, index) => lineOf(name, row[index]))
    return lines.filter((line) => line !== '').join('\n')
  }
  return (hasRows ? rows : [[]]).map(recordOf).join('\n\n')
}

/** Columns that are drawn side by side. */
interface Band {
  readonly indent: number
  readonly columns: { readonly at: number; readonly width: number }[]
}

/**
 * Draws a table without frames, in lines of at most `columns` cells, except for longer words. Where the words of a row do not fit side by side,
 * the remaining columns are placed below, under the second one.
 *
 * @param right indexes of right-aligned columns.
 */
export function fitTable(rows: readonly Row[], right: readonly number[], columns: number): string {
  // Leading spaces of a cell are not places to break it.
  const held = rows.map((row) => row.map((cell) => cell.replace(/^ +/, (indent) => '\u00A0'.repeat(indent.length))))
  const all = filled(held)
  const widths = columnWidths(all, columns - GAP * ((all[0]?.length ?? 0) - 1))
  const bands =
    widths === undefined ? bandsOf(all, columns) : [{ indent: 0, columns: widths.map((width, at) => ({ at, width })) }]
  const lines = all.flatMap((row) =>
    bands.flatMap(({ indent, columns }) => {
      const cells = columns.map(({ at }) => row[at] ?? '')
      const own = columns.map(({ width }) => width)
      const aligns = columns.map(({ at }) => (right.includes(at) ? 'right' : 'left'))
      const shown = rowLines(cells, own, aligns, ' '.repeat(GAP)).map((line) => ' '.repeat(indent) + line)
      return shown.map((line) => line.replaceAll('\u00A0', ' ').trimEnd()).filter((line, index) => index > 0 || line !== '')
    }),
  )
  return lines.map((line) => `${line}\n`).join('')
}

function bandsOf(rows: readonly Row[], columns: number): readonly Band[] {
  const widths = (rows[0] ?? []).map((_, at) => largest(rows, at, widthOf))
  const second = (widths[0] ?? 0) + GAP
  const below = second <= columns / 2 ? second : Math.floor(columns / 3)
  const bands: Band[] = []
  let taken = 0
  for (const [at, width] of widths.entries()) {
    if (at > 0 && taken + GAP + width <= columns) {
      bands.at(-1)?.columns.push({ at, width })
      taken += GAP + width
    } else {
      const indent = at === 0 ? 0 : below
      bands.push({ indent, columns: [{ at, width: Math.min(width, columns - indent) }] })
      taken = indent + width
    }
  }
  return bands
}

/** Pads all rows to the same number of cells. */
function filled(rows: readonly Row[]): readonly Row[] {
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0)
  return rows.map((row) => Array.from({ length: count }, (_, index) => row[index] ?? ''))
}

/** Returns the lines of a row; each cell continues under its column. */
function rowLines(cells: Row, widths: readonly number[], aligns: readonly Align[], gap: string): readonly string[] {
  const broken = cells.map((cell, at) => wrapStyled(cell, widths[at] ?? 1))
  const height = Math.max(...broken.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    broken.map((lines, at) => padStyled(lines[line] ?? '', widths[at] ?? 1, aligns[at] ?? 'left')).join(gap),
  )
}

/**
 * Returns widths with which all columns fit and no word is broken, narrowing the widest columns first; `undefined` when there are none.
 *
 * @param rows rows with the same number of cells.
 * @param room cells for all columns together.
 */
function columnWidths(rows: readonly Row[], room: number): readonly number[] | undefined {
  const limits = (rows[0] ?? []).map((_, at) => {
    const most = Math.max(1, largest(rows, at, widthOf))
    return { most, least: Math.max(largest(rows, at, longestWord), Math.min(most, NARROWEST)) }
  })
  for (let cap = Math.min(room, Math.max(0, ...limits.map(({ most }) => most))); cap >= 0; cap--) {
    const widths = limits.map(({ least, most }) => Math.max(least, Math.min(most, cap)))
    let left = room - widths.reduce((sum, width) => sum + width, 0)
    if (left < 0) continue
    // The remaining cells go to the first columns that need them.
    return widths.map((width, at) => {
      if (left === 0 || width >= (limits[at]?.most ?? width)) return width
      left--
      return width + 1
    })
  }
  return undefined
}

function largest(rows: readonly Row[], at: number, measure: (cell: string) => number): number {
  return rows.reduce((most, row) => Math.max(most, measure(row[at] ?? '')), 0)
}

/** An unbreakable part: a word, or one character of a script without spaces. */
interface Unit {
  readonly text: string
  readonly width: number
  readonly afterSpace: boolean
}

const RESET = '\u001B[0m'
const SPACE = /^[ \t\n]+$/
// Characters that do not begin a line in Chinese and Japanese.
const NEVER_FIRST = /^[、。，．：；！？）」』】〉》〕］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ]/

/** Wraps styled text between words into at least one line of at most `columns` cells, except for longer words. Each line begins and ends its own styles. */
export function wrapStyled(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const unit of unitsOf(text)) {
    const gap = unit.afterSpace && unit.width > 0 && line !== '' ? 1 : 0
    if (line !== '' && unit.width > 0 && width + gap + unit.width > columns) {
      lines.push(line)
      line = unit.text
      width = unit.width
    } else {
      line += (gap === 1 ? ' ' : '') + unit.text
      width += gap + unit.width
    }
  }
  return withOwnStyles([...lines, line])
}

/** Returns the cells of the longest word. */
export function longestWord(text: string): number {
  return unitsOf(text).reduce((longest, { width }) => Math.max(longest, width), 0)
}

type Align = 'left' | 'right' | 'center'

/** Pads a line with spaces after, before or around it. */
export function padStyled(line: string, columns: number, align: Align): string {
  const room = Math.max(0, columns - widthOf(line))
  const before = align === 'left' ? 0 : align === 'right' ? room : Math.floor(room / 2)
  return ' '.repeat(before) + line + ' '.repeat(room - before)
}

function unitsOf(text: string): readonly Unit[] {
  const units: Unit[] = []
  let unit = { text: '', width: 0, afterSpace: false }
  let last = ''
  const next = (afterSpace: boolean): void => {
    const isEmpty = unit.width === 0
    if (!isEmpty) units.push(unit)
    // A style before any text belongs to the next unit.
    unit = { text: isEmpty ? unit.text : '', width: 0, afterSpace: afterSpace || (isEmpty && unit.afterSpace) }
    last = ''
  }
  for (const [index, part] of styledParts(text).entries()) {
    if (index % 2 === 1) {
      unit.text += part
      continue
    }
    for (const grapheme of graphemes(part)) {
      if (SPACE.test(grapheme)) {
        next(true)
        continue
      }
      const isBetweenSigns = last !== '' && (cellsOf(last) === 2 || cellsOf(grapheme) === 2)
      if (isBetweenSigns && !NEVER_FIRST.test(grapheme)) next(false)
      unit.text += grapheme
      unit.width += cellsOf(grapheme)
      last = grapheme
    }
  }
  return unit.text === '' ? units : [...units, unit]
}

function withOwnStyles(lines: readonly string[]): readonly string[] {
  let open: readonly string[] = []
  return lines.map((line) => {
    const before = open.join('')
    for (const [index, part] of styledParts(line).entries()) if (index % 2 === 1) open = withStyle(open, part)
    return before + line + (open.length > 0 ? RESET : '')
  })
}

/** Returns the open styles after another style code. */
function withStyle(open: readonly string[], style: string): readonly string[] {
  const code = Number.parseInt(style.slice(2), 10) || 0
  if (code === 0) return []
  const isEnd = [22, 23, 24, 29, 39, 49].includes(code)
  return isEnd
    ? open.filter((each) => endOf(Number.parseInt(each.slice(2), 10)) !== code)
    : [...open.filter((each) => each !== style), style]
}

/** Returns the code that ends a style (ECMA-48, SGR). */
function endOf(code: number): number {
  if (code === 1 || code === 2) return 22
  if (code === 9) return 29
  if (code < 10) return code + 20
  return (code >= 40 && code < 50) || code >= 100 ? 49 : 39
}
