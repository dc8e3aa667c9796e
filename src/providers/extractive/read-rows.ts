/** Reads separated values into one piece a row. */

import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import { countWords } from '../../text/measure.ts'
import type { Passage, Piece, Section } from './passage.ts'

const LINES_READ = 20

/** The names of the columns stand in the first row, or, where that was cut off, above the passage. */
export function readRows({ text, headings = [] }: Passage): Piece[] {
  const delimiter = delimiterOf(text.split(/\r?\n/, LINES_READ)) ?? ','
  const rows = [...rowsOf(text, delimiter)].filter(({ start, end }) => text.slice(start, end).trim() !== '')
  const cells = (row: { start: number; end: number } | undefined): string[] =>
    row === undefined ? [] : cellsOf(text.slice(row.start, row.end), delimiter)
  const named = headings.at(-1)?.split(', ') ?? []
  const isNamed = named.length > 1 && named.length === cells(rows[0]).length
  const header = isNamed ? undefined : headerOf(rows.slice(0, LINES_READ).map(cells))
  const columns = isNamed ? named : header === undefined ? [] : cells(rows[header])
  const section: Section = { headings: isNamed ? headings.slice(0, -1) : headings, columns }
  return rows.slice(header === undefined ? 0 : header + 1).map(({ start, end }) => {
    const own = cells({ start, end })
    return { start, end, kind: 'row', section, block: 1, leadsIn: false, cells: own, words: countWords(own.join(' ')), lines: 1 }
  })
}
