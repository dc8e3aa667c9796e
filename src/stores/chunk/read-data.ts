/** Yields atoms of data: members of JSON under their keys, and rows of separated values under the names of their columns. */

import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import { isWhiteSpace, linesOf } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'
import { BORDER, proseAtoms } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'
import { Nest } from './nest.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LONGEST_KEY = 100
const KEY = /^\s*"((?:[^"\\]|\\.)*)"\s*:/

/** Reads JSON, JSON with comments and JSON lines: members and elements, whole where they fit, under the keys above them. Tolerates invalid JSON. */
export function* readJson(cutting: Cutting): Generator<Atom> {
  const { text, lineBreak, max } = cutting
  const nest = new Nest(max)
  // Start of the current member or element; -1 between two.
  let start = -1
  let afterClose = false
  let tooDeep = 0
  const add = (range: Range, border: number): void => {
    for (const atom of proseAtoms(cutting, range, { border, path: [] })) nest.add(atom, atom.border)
  }
  const leaf = (end: number): void => {
    if (start !== -1) add({ start, end }, borderAt(nest.depth))
    start = -1
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const opens = character === '{' || character === '['
    const closes = character === '}' || character === ']'
    if ((opens && nest.depth === DEEPEST) || (closes && tooDeep > 0)) {
      tooDeep += opens ? 1 : -1
      if (start === -1) start = at
    } else if (opens) {
      const from = start === -1 ? at : start
      const border = borderAt(nest.depth)
      if (nest.depth === 0) yield* nest.take()
      nest.open()
      nest.name(keyOf(text, from, at))
      add({ start: from, end: at + 1 }, border)
      start = -1
      afterClose = false
    } else if (closes) {
      leaf(at)
      nest.add({ start: at, end: at + 1 }, BORDER.never)
      nest.close()
      afterClose = true
    } else if (character === ',') {
      if (start === -1 && afterClose) nest.append({ start: at, end: at + 1 })
      else {
        if (start === -1) start = at
        leaf(at + 1)
      }
      afterClose = false
    } else if (!isWhiteSpace(text, at)) {
      if (start === -1) start = at
      afterClose = false
      if (text.charCodeAt(at) === QUOTE) at = stringEnd(text, at)
    } else if (nest.depth === 0 && character === lineBreak) {
      leaf(at)
    }
  }
  leaf(text.length)
  while (nest.depth > 0) nest.close()
  yield* nest.take()
}

const BORDERS = [BORDER.block, BORDER.paragraph, BORDER.item]

function borderAt(depth: number): number {
  return BORDERS[depth] ?? BORDER.line
}

/** Deeper brackets are read as text. */
const DEEPEST = 256

/** Returns the offset of the closing quote. JSON strings hold no line breaks, so an unclosed string ends with its line. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
    else if (code === 0x0a || code === 0x0d) return at - 1
  }
  return text.length - 1
}

function keyOf(text: string, start: number, end: number): string {
  return KEY.exec(text.slice(start, Math.min(end, start + LONGEST_KEY)))?.[1] ?? ''
}

const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** Lines at the start that decide the delimiter, and rows that decide whether the first row names the columns. */
const LOOKED_AT = 20

/** Reads tables with separated values (commas, tabs and the like): one atom per row, under the column names. */
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
