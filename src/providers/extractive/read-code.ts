/** Splits source code into pieces with their enclosing definitions. */

import { definedName } from '../../text/definitions.ts'
import { indentation, linesOf } from '../../util/lines.ts'
import type { Line } from '../../util/lines.ts'
import { countLines, countWords, LINES } from './passage.ts'
import type { Passage, Piece, Section } from './passage.ts'
import type { Range } from '../../util/range.ts'
import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'

/** A key of JSON, YAML or TOML with other lines below it. */
const KEY = /^(?:"[^"]+"\s*:\s*[[{]|[\w.-]+:|- [\w.-]+:|\[{1,2}[\w.-]+\]{1,2})\s*$/
const IS_DATA = /\.(?:jsonl?|jsonc|ya?ml|toml|ini|cfg|conf|properties)$/i
/** Decorators and comments, which belong to the lines below them. */
const PRELUDE = /^(?:@|#(?!include)|\/\/|\/\*|\*|--|;;)/
/** Most lines of a signature. */
const SIGNATURE = 12
const LONGEST_LABEL = 100

interface Open {
  readonly indent: number
  readonly label: string
  readonly signature: Range
}

export function readCode({ text, source, headings = [] }: Passage): Piece[] {
  const opens = IS_DATA.test(source)
    ? (head: string): boolean => KEY.test(head)
    : (head: string): boolean => definedName(head) !== undefined
  const lines = [...linesOf(text, 0, text.length, '\n')]
  const pieces: Piece[] = []
  const open: Open[] = []
  let section = sectionOf(headings, [])
  let current: { start: number; end: number; lines: number; isPrelude: boolean } | undefined
  let block = 0

  const flush = (): void => {
    if (current === undefined) return
    const range = { start: current.start, end: current.end }
    const words = countWords(text.slice(range.start, range.end))
    if (words > 0) pieces.push({ ...range, kind: 'code', section, block, leadsIn: false, words, lines: countLines(text, range) })
    current = undefined
  }

  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (line === undefined) break
    const { indent, head } = readIndent(text, line)
    if (head === '') {
      if ((current?.lines ?? 0) >= LINES / 2) flush()
      continue
    }
    // A closing bracket belongs to the block that it closes.
    const least = /^[)\]}]/.test(head) ? indent + 1 : indent
    while ((open.at(-1)?.indent ?? -1) >= least) {
      flush()
      open.pop()
      section = sectionOf(headings, open)
      block++
    }
    if (opens(head)) {
      if (current?.isPrelude !== true) flush()
      const end = signatureEnd(text, lines, at, indent)
      open.push({ indent, label: labelOf(text.slice(line.start, end)), signature: { start: line.start, end } })
      section = sectionOf(headings, open)
      block++
    }
    const isPrelude = PRELUDE.test(head)
    if (current !== undefined && (current.lines >= LINES || (isPrelude && !current.isPrelude))) flush()
    current = {
      start: current?.start ?? line.start,
      end: line.end,
      lines: (current?.lines ?? 0) + 1,
      isPrelude: isPrelude && (current?.isPrelude ?? true),
    }
  }
  flush()
  return pieces
}

function sectionOf(headings: readonly string[], open: readonly Open[]): Section {
  const signature = open.at(-1)?.signature
  return {
    headings: [...headings.map(labelOf), ...open.map(({ label }) => label)],
    ...(signature === undefined ? {} : { signature }),
  }
}

/** Returns the end of a signature, which may span lines until its brackets are closed. */
function signatureEnd(text: string, lines: readonly Line[], from: number, indent: number): number {
  let depth = 0
  for (let at = from; at < Math.min(lines.length, from + SIGNATURE); at++) {
    const line = lines[at]
    if (line === undefined) break
    for (const sign of text.slice(line.start, line.end)) {
      if (sign === '(' || sign === '[') depth++
      else if (sign === ')' || sign === ']') depth--
    }
    if (depth <= 0 && (at === from || readIndent(text, line).indent <= indent)) return line.end
  }
  return lines[from]?.end ?? 0
}

/** Returns the name of a definition with its keyword: `class Reader`, `def read`. */
function labelOf(signature: string): string {
  return (/^[^(:={]*/.exec(signature.replaceAll(/\s+/g, ' ').trim())?.[0] ?? '').trim().slice(0, LONGEST_LABEL)
}

function readIndent(text: string, { start, end }: Line): { readonly indent: number; readonly head: string } {
  const { indent, first } = indentation(text, start, end)
  return { indent, head: text.slice(first, Math.min(end, first + 300)) }
}

const LINES_READ = 20

/** Splits a table into rows. The column names are the innermost heading if the table was cut, else the header row. */
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
