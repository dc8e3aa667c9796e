/** Atoms of tables whose cells are parted by commas, tabs and the like: a row each, under the names of the columns. */

import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import { linesOf } from '../../util/lines.ts'
import { BORDER, proseAtoms } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'

const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** Lines at the beginning by which the delimiter is told, and rows by which names are told from values. */
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

/** The names of the columns, and where their row ends; `undefined` when no row names them. */
function readHeader(text: string, delimiter: Delimiter, lineBreak: string): { names: string; end: number } | undefined {
  const rows: { cells: string[]; end: number }[] = []
  for (const { start, end } of rowsOf(text, delimiter, lineBreak)) {
    if (rows.length === 0 && end - start > LONGEST_HEADER) return undefined
    if (end > start) rows.push({ cells: cellsOf(text.slice(start, Math.min(end, start + LONGEST_HEADER)), delimiter), end })
    if (rows.length === LOOKED_AT) break
  }
  const header = rows[headerOf(rows.map(({ cells }) => cells)) ?? -1]
  if (header === undefined) return undefined
  // A comma and a space part the names.
  const names = header.cells.map((name) => name.replaceAll(/,\s+/g, ' '))
  return { names: names.join(', ').slice(0, LONGEST_LABEL), end: header.end }
}
