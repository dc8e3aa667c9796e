/** Tables of an answer: nothing of a cell is left out, however narrow the terminal is. Pure. */

import { columnWidths } from './column-widths.ts'
import { padStyled, wrapStyled } from './styled.ts'

export type Align = 'left' | 'right' | 'center'

/** Rows of cells, which need not be equally many. */
export interface AnswerTable {
  /** The mark of the list item that the table is in. */
  readonly mark?: string | undefined
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly aligns: readonly Align[]
}

const LIST_MARK = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\|)/
const DELIMITERS = /^[\s|:-]+$/

/** A table as it is written (GFM, 4.10): a header, delimiters, rows. Cells are Markdown; `undefined` for what has no delimiters. */
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

/** A `|` behind a backslash is part of its cell, which keeps both. */
function cellsOfRow(line: string): readonly string[] {
  const cells = line.trim().match(/(?:\\[\s\S]|[^|\\]|\\$)+|\|/g) ?? []
  const row: string[] = ['']
  for (const cell of cells) {
    if (cell === '|') row.push('')
    else row[row.length - 1] = cell.trim()
  }
  if (row[0] === '' && row.length > 1) row.shift()
  if (row.at(-1) === '' && row.length > 1) row.pop()
  return row
}

/**
 * Lines of at most `columns` cells, save for words that are longer: in frames with the cells broken between words, else, where the words of
 * a row have no room side by side, as records, one line `Column: value` each. Cells may hold styles.
 */
export function drawTable(table: AnswerTable, columns: number): string {
  const count = table.rows.reduce((most, row) => Math.max(most, row.length), table.header.length)
  const all = [table.header, ...table.rows].map((row) => Array.from({ length: count }, (_, index) => row[index] ?? ''))
  const widths = columnWidths(all, columns - 3 * count - 1)
  const mark = table.mark === undefined ? '' : `${table.mark}\n`
  return mark + (widths === undefined ? records(table, columns) : frames(all, widths, table.aligns))
}

function frames(rows: readonly (readonly string[])[], widths: readonly number[], aligns: readonly Align[]): string {
  const rule = (left: string, middle: string, right: string): string =>
    `${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}`
  const blocks = rows.map((row) => {
    const cells = row.map((cell, index) => wrapStyled(cell, widths[index] ?? 1))
    const height = Math.max(...cells.map((lines) => lines.length))
    return Array.from({ length: height }, (_, line) => {
      const shown = cells.map((lines, index) => padStyled(lines[line] ?? '', widths[index] ?? 1, aligns[index] ?? 'left'))
      return `│ ${shown.join(' │ ')} │`
    })
  })
  const [header = [], ...body] = blocks
  const between = rule('├', '┼', '┤')
  // Where a row takes several lines nobody could tell where the next one begins.
  const parted = body.some((lines) => lines.length > 1)
  return [
    rule('┌', '┬', '┐'),
    ...header,
    between,
    ...body.flatMap((lines, index) => (parted && index > 0 ? [between, ...lines] : lines)),
    rule('└', '┴', '┘'),
  ].join('\n')
}

function records({ header, rows }: AnswerTable, columns: number): string {
  const recordOf = (row: readonly string[]): string =>
    Array.from({ length: Math.max(header.length, row.length) }, (_, index) => {
      const name = header[index] ?? ''
      const line = [...(name === '' ? [] : [`${name}:`]), row[index] ?? ''].join(' ').trimEnd()
      const [first = '', ...others] = wrapStyled(line, columns - INDENT.length)
      return [first, ...others.map((each) => INDENT + each)].join('\n')
    })
      .filter((line) => line !== '')
      .join('\n')
  return (rows.length === 0 ? [[]] : rows).map(recordOf).join('\n\n')
}

const INDENT = '  '
