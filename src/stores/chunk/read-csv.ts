/** Yields atoms of tables with separated values (commas, tabs and the like): one per row, under the column names. */

import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import { linesOf } from '../../util/lines.ts'
import { BORDER, proseAtoms } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'

const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** Lines at the start that decide the delimiter, and rows that decide whether the first row names the columns. */
const LOOKED_AT = 20

export function* readCsv(cutting: Cutting): Generator<Atom> {
  const { text, lineBreak } = cutting
  const delimiter = delimiterOf(firstLines(text, lineBreak)) ?? ','
  const header = readHeader(text, delimiter, lineBreak)
  for (const row of rowsOf(text, delimiter, lineBreak)) {
    const path = header !== undefined && row.start >= header.end ? [header.names] : []
    yield* proseAtoms(cutting, row, { border: BORDER.item, path })
  }
}

function firstLines(text: string, lineBreak: string): string[] {
  const lines: string[] = []
  for (const { start, end } of linesOf(text, 0, text.length, lineBreak)) {
    if (end > start) lines.push(text.slice(start, Math.min(end, start + LONGEST_HEADER)))
    if (lines.length === LOOKED_AT) break
  }
  return lines
}

/** Returns the column names and the end of their row; `undefined` when no row names the columns. */
function readHeader(text: string, delimiter: Delimiter, lineBreak: string): { names: string; end: number } | undefined {
  const rows: { cells: string[]; end: number }[] = []
  for (const { start, end } of rowsOf(text, delimiter, lineBreak)) {
    if (rows.length === 0 && end - start > LONGEST_HEADER) return undefined
    if (end > start) rows.push({ cells: cellsOf(text.slice(start, Math.min(end, start + LONGEST_HEADER)), delimiter), end })
    if (rows.length === LOOKED_AT) break
  }
  const header = rows[headerOf(rows.map(({ cells }) => cells)) ?? -1]
  if (header === undefined) return undefined
  // Names are joined with a comma and a space.
  const names = header.cells.map((name) => name.replaceAll(/,\s+/g, ' '))
  return { names: names.join(', ').slice(0, LONGEST_LABEL), end: header.end }
}
