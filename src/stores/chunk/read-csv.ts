/** Atoms of comma- and tab-separated values: rows, under the row that names the columns. */

import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import { BORDER } from './atom.ts'
import type { Atom } from './atom.ts'
import { linesOf } from '../../util/lines.ts'
import { proseAtoms } from './prose.ts'

const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** Lines at the beginning by which the delimiter is told, and rows by which names are told from values. */
const LOOKED_AT = 20

export function* readCsv(text: string, max: number, lineBreak: string): Generator<Atom> {
  const delimiter = delimiterOf(firstLines(text, lineBreak)) ?? ','
  const header = readHeader(text, delimiter, lineBreak)
  for (const row of rowsOf(text, delimiter, lineBreak)) {
    const path = header !== undefined && row.start >= header.end ? [header.names] : []
    yield* proseAtoms(text, { ...row, border: BORDER.item, path }, max, lineBreak)
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
