/** Formats a run as Markdown: headings and source, its text word for word with the decisive words in bold, and its marker. */

import { fenced, withoutMarkup } from '../../text/markdown-text.ts'
import { linesOf } from '../../util/lines.ts'
import type { MatchedPiece } from './match.ts'
import type { Piece } from './passage.ts'
import type { Range } from '../../util/range.ts'
import { withoutDirectives } from './read-markdown.ts'
import { cellsOfRow } from '../../text/separated-values.ts'
import type { Run } from './runs.ts'

/** Most headings shown above a block: the innermost ones. */
const HEADINGS = 2

/** @param decisive a range of the passage. */
export function showRun(run: Run, decisive: Range): string {
  const { marker } = run.reading.passage
  const body = bodyOf(run, decisive)
  const isOpen = /[^`|]$/.test(body.trimEnd()) && !/\n\|[^\n]*$/.test(body)
  return `${headOf(run)}\n\n${body}${isOpen ? ' ' : '\n\n'}[${marker}]`
}

/** Returns the place of runs in one document as displayed: their headings and its source. */
export function headOf(run: Run, ...more: readonly Run[]): string {
  const paths = new Set([run, ...more].map(pathOf).filter((path) => path !== ''))
  const source = `\`${run.reading.passage.source.replaceAll('`', "'")}\``
  return paths.size === 0 ? source : `${Array.from(paths, (path) => `**${path}**`).join(', ')} · ${source}`
}

function pathOf({ section, reading: { passage } }: Run): string {
  const titles =
    section.headings.length > 0 ? section.headings.slice(-HEADINGS) : passage.title === undefined ? [] : [passage.title]
  const path = titles.map((title) => withoutMarkup(title).replaceAll('*', '')).filter((title) => title !== '')
  return path.join(' › ')
}

function bodyOf(run: Run, decisive: Range): string {
  const { section, reading } = run
  const { text } = reading.passage
  const pieces = run.pieces.map((one) => ({ ...one, piece: shortened(text, one.piece, decisive) }))
  const parts: string[] = []
  let heading = section.headings
  for (let at = 0; at < pieces.length;) {
    const piece = pieces[at]?.piece
    if (piece === undefined) break
    let next = at + 1
    while (pieces[next]?.piece.block === piece.block && pieces[next]?.piece.kind === piece.kind) next++
    const group = pieces.slice(at, next).map((one: MatchedPiece) => one.piece)
    if (piece.section.headings !== heading && piece.section !== section) {
      parts.push(`**${withoutMarkup(piece.section.headings.at(-1) ?? '')}**`)
      heading = piece.section.headings
    }
    if (piece.kind === 'row') parts.push(tableOf(text, group, piece.section.columns ?? []))
    else if (piece.kind === 'code') parts.push(codeOf(text, group, piece.language ?? languageOf(reading.passage.source)))
    else parts.push(group.map((one) => prose(text, one, decisive)).join(piece.kind === 'item' ? '\n' : '\n\n'))
    at = next
  }
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Formats source code, beginning with the lines that open the enclosing definition. */
function codeOf(text: string, group: readonly Piece[], language: string): string {
  const [first] = group
  const last = group.at(-1)
  if (first === undefined || last === undefined) return ''
  const { signature } = first.section
  const opening = signature !== undefined && signature.start < first.start ? signature : undefined
  const isNext = opening !== undefined && text.slice(opening.end, first.start).trim() === ''
  const lines = [
    ...(opening === undefined ? [] : [text.slice(opening.start, opening.end), ...(isNext ? [] : ['…'])]),
    ...(first.isCutBefore === true ? ['…'] : []),
    text.slice(first.start, last.end).trimEnd(),
    ...(last.isCutAfter === true ? ['…'] : []),
  ].join('\n')
  return fenced(dedented(language === '' ? withoutDirectives(lines) : lines), language)
}

/** Removes the indentation that all lines of code share, and blank lines around it. */
function dedented(code: string): string {
  const lines = code
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^(?:>[ \t]?)+/, ''))
  const indents = lines.filter((line) => line.trim() !== '' && line !== '…').map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0)
  const shared = indents.reduce((least, indent) => Math.min(least, indent), 200)
  return lines.map((line) => (line === '…' ? line : line.slice(shared))).join('\n')
}

function languageOf(source: string): string {
  return /\.(\w{1,10})$/.exec(source)?.[1]?.toLowerCase() ?? ''
}

function tableOf(text: string, rows: readonly Piece[], columns: readonly string[]): string {
  const cells = rows.map(({ cells: own, start, end }) => own ?? cellsOfRow(text.slice(start, end)))
  const width = cells.reduce((most, row) => Math.max(most, row.length), columns.length)
  const line = (row: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, at) =>
      withoutMarkup(
        cut(row[at] ?? '')
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/(?<!\\)\|/g, '\\|'),
      ),
    ).join(' | ')} |`
  return [line(columns), `|${' --- |'.repeat(width)}`, ...cells.map(line)].join('\n')
}

/** Most words shown of one piece, and most of them before the decisive words. */
const LONGEST_PIECE = 110
const BEFORE = 20

/** Cuts an overlong piece to the words around the decisive ones. */
function shortened(text: string, piece: Piece, decisive: Range): Piece {
  if (piece.words <= LONGEST_PIECE && piece.end - piece.start < LONGEST_PIECE * 100) return piece
  const middle = decisive.start >= piece.start && decisive.start < piece.end ? decisive.start : piece.start
  const before = [...text.slice(Math.max(piece.start, middle - 400), middle).matchAll(/\S+\s*/g)].slice(-BEFORE)
  const start = middle - before.reduce((sum, [word]) => sum + word.length, 0)
  let end = start
  let words = 0
  for (const word of text.slice(start, Math.min(piece.end, start + LONGEST_PIECE * 100)).matchAll(/\S+/g)) {
    if (words++ === LONGEST_PIECE) break
    end = start + word.index + word[0].length
  }
  return { ...piece, start, end }
}

const LONGEST_CELL = 300

function cut(cell: string): string {
  return cell.length <= LONGEST_CELL ? cell : `${cell.slice(0, LONGEST_CELL)}…`
}

const LIST_MARK = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/

/** Formats the prose of one piece, with the decisive words in bold. */
function prose(text: string, { start, end, kind }: Piece, decisive: Range): string {
  const mark = kind === 'item' ? (LIST_MARK.exec(text.slice(start, end))?.[0] ?? '') : ''
  const first = start + mark.length
  const [from, to] = [Math.max(first, decisive.start), Math.min(end, decisive.end)]
  const clean = (a: number, b: number): string =>
    kind === 'item' ? withoutMarkup(unindented(text.slice(a, b))) : withoutMarkup(text.slice(a, b)).replaceAll(/\s+/g, ' ')
  const bullet = kind === 'item' ? `${mark.trim()} ` : ''
  if (to <= from) return `${bullet}${clean(first, end).trim()}`
  const bold = clean(from, to).replaceAll(/\*\*|__/g, '')
  const inner = bold.trim()
  if (inner === '' || inner.includes('\n')) return `${bullet}${clean(first, end).trim()}`
  return `${bullet}${spaced(clean(first, from), `**${inner}**`, clean(to, end))}`
}

function spaced(...parts: readonly string[]): string {
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ')
}

function unindented(item: string): string {
  return [...linesOf(item, 0, item.length, '\n')]
    .map(({ start, end }) => item.slice(start, end).replace(/^[ \t]{1,6}/, '  '))
    .join('\n')
    .trim()
}
