/** Atoms of comma- and tab-separated values: rows, under the row that names the columns. */

import { BORDER } from './atom.ts'
import type { Atom } from './atom.ts'
import { lineAt } from './lines.ts'
import { proseAtoms } from './prose.ts'

const DELIMITERS = [',', '\t', ';', '|'] as const
const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** A quoted field longer than this was never meant to be one: a quote is missing somewhere. */
const LONGEST_QUOTED_ROW = 65_536
const NUMBER = /^[+-]?[\d.,\s%$€-]+$/

export function* readCsv(text: string, max: number, lineBreak: string): Generator<Atom> {
  const delimiter = delimiterOf(text, lineBreak)
  let path: readonly string[] = []
  let isFirst = true
  for (const row of rows(text, delimiter, lineBreak)) {
    yield* proseAtoms(text, { ...row, border: BORDER.item, path }, max, lineBreak)
    if (isFirst) {
      const columns = columnNames(text.slice(row.start, row.end), delimiter)
      if (columns !== undefined) path = [columns]
    }
    isFirst = false
  }
}

/** The names of the columns in one line; `undefined` when the first row is no header. */
function columnNames(row: string, delimiter: string): string | undefined {
  if (row.length > LONGEST_HEADER) return undefined
  const names = row
    .trim()
    .split(delimiter)
    .map((name) => name.replaceAll('"', '').trim())
  const isHeader =
    names.length > 1 && names.every((name) => name !== '' && !NUMBER.test(name)) && new Set(names).size === names.length
  return isHeader ? names.join(', ').slice(0, LONGEST_LABEL) : undefined
}

function delimiterOf(text: string, lineBreak: string): string {
  const first = lineAt(text, 0, text.length, lineBreak)
  const head = text.slice(first.start, Math.min(first.end, LONGEST_HEADER))
  let best = ','
  let most = 0
  for (const delimiter of DELIMITERS) {
    const count = head.split(delimiter).length - 1
    if (count > most) {
      best = delimiter
      most = count
    }
  }
  return best
}

/** A row may go over several lines inside quotes. Where quotes turn out not to be closed, lines are rows from there on. */
function* rows(text: string, delimiter: string, lineBreak: string): Generator<{ readonly start: number; readonly end: number }> {
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

/** Whether a quoted field is open at the end of a line. A quote opens a field only at its beginning. */
function opensQuote(text: string, start: number, end: number, delimiter: string, wasOpen: boolean): boolean {
  let isOpen = wasOpen
  let atFieldStart = !wasOpen
  for (let at = start; at < end; at++) {
    const character = text.charAt(at)
    if (isOpen) {
      if (character === '"') isOpen = false
    } else if (character === '"') {
      // A doubled quote inside a field closes and opens it again.
      isOpen = atFieldStart || text.charAt(at - 1) === '"'
    }
    atFieldStart = !isOpen && character === delimiter
  }
  return isOpen
}
