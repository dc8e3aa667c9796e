/** What in Markdown and HTML is there for the eye and is no part of what a text says. */

import type { Delimiter } from '../../text/separated-values.ts'

const TAG = String.raw`<!--[^]{0,2000}?-->|<\/?[a-zA-Z][^<>]{0,500}>`
const IMAGE = String.raw`!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|\[!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])?`
const MARKERS = String.raw`(?:>|\*\/|\/\*\*?|\/\/+|[-*+•](?=\s)|#{1,6}(?=\s)|\[[ xX]\](?=\s)|(?:Q|A|Question|Answer)[:.](?=\s))`
const LEADING = new RegExp(String.raw`^(?:\s+|${TAG}|${IMAGE}|${MARKERS})`, 'u')
/** The rest of a tag whose beginning was cut off. */
const TORN_TAG = /^[^<>\n]{0,300}["'/]\s*>/
const TRAILING = /<\/?[a-zA-Z][^<>]{0,500}>$/u

/** A range of text without the markup, list markers and quote signs around it. */
export function withoutMarkup(text: string, start: number, end: number): [start: number, end: number] {
  let from = start + (TORN_TAG.exec(text.slice(start, Math.min(end, start + 320)))?.[0].length ?? 0)
  for (;;) {
    const length = LEADING.exec(text.slice(from, Math.min(end, from + LONGEST_MARKUP)))?.[0].length ?? 0
    if (length === 0) break
    from += length
  }
  let to = end
  for (;;) {
    to = from + text.slice(from, to).trimEnd().length
    const tail = text.slice(Math.max(from, to - 520), to)
    const length = tail.endsWith('>') ? (TRAILING.exec(tail)?.[0].length ?? 0) : 0
    if (length === 0) break
    to -= length
  }
  return [from, to]
}

const LONGEST_MARKUP = 2100

const LINK = new RegExp(
  String.raw`${IMAGE}|\[([^\]\n]{1,300})\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])|<?https?:\/\/[^\s>]+>?`,
  'gu',
)
/** A text of which less than this is not in links only leads elsewhere. */
const SAID_BESIDE_LINKS = 0.34

/** Whether a block is a list of links, badges or images. */
export function isMostlyLinks(block: string): boolean {
  if (!/\]\(|\]\[|:\/\//.test(block)) return false
  let linked = 0
  const rest = block.replaceAll(LINK, (link: string, label: string | undefined) => {
    linked += lettersIn(label ?? link)
    return ' '
  })
  const beside = lettersIn(rest)
  return linked > 0 && beside < SAID_BESIDE_LINKS * (beside + linked)
}

function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

/** Whether a line is nothing but one stretch of bold text: a heading in all but name. */
export function isBoldLine(line: string): boolean {
  return /^\s*(?:\*\*(?:(?!\*\*).){1,200}\*\*|__(?:(?!__).){1,200}__)\s*:?\s*$/u.test(line)
}

/** The cells of a table row as ranges of the text; empty ones are left out, and the columns keep their numbers. */
export function readCells(text: string, start: number, end: number, separator: Delimiter): Cell[] {
  const cells: Cell[] = []
  const line = text.slice(start, end)
  let from = separator === '|' && line.startsWith('|') ? 1 : 0
  let column = 0
  for (const { 0: cell } of line.slice(from).matchAll(CELL[separator])) {
    const body = cell.endsWith(separator) ? cell.slice(0, -1) : cell
    const quotes = separator !== '|' && /^\s*".*"\s*$/u.test(body) ? 1 : 0
    const first = from + body.length - body.trimStart().length + quotes
    const last = from + body.trimEnd().length - quotes
    if (last > first) cells.push({ start: start + first, end: start + last, column })
    from += cell.length
    column++
  }
  return cells
}

interface Cell {
  readonly start: number
  readonly end: number
  readonly column: number
}

const QUOTED = String.raw`[^\S\n]*"(?:[^"]|"")*"[^\S\n]*`
const CELL: Readonly<Record<Delimiter, RegExp>> = {
  '|': /((?:\\.|`[^`]*`|[^|])*)(?:\||$)/gu,
  ',': new RegExp(`(${QUOTED}(?=,|$)|[^,]*)(?:,|$)`, 'gu'),
  ';': new RegExp(`(${QUOTED}(?=;|$)|[^;]*)(?:;|$)`, 'gu'),
  '\t': new RegExp(`(${QUOTED}(?=\t|$)|[^\t]*)(?:\t|$)`, 'gu'),
}

/** Whether text would read as citing something: `[2]`, unless it stands within code. */
export function readsAsCitation(text: string): boolean {
  return text.includes('[') && /\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]/.test(text.replaceAll(/`[^`\n]*`/gu, ''))
}
