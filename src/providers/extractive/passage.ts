/** Defines the passages that answers quote and the pieces that they consist of, and measures their length. */

import { linesOf } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'

/** A passage of a document, as returned by retrieval. */
export interface Passage {
  /** The marker that cites it, without brackets: `1`. */
  readonly marker: string
  readonly source: string
  readonly text: string
  readonly title?: string | undefined
  /** Headings above it, outermost first; for code the enclosing definitions, for a table the column names. */
  readonly headings?: readonly string[] | undefined
  /** Score as a share of the best passage of the same store, 0 to 1. */
  readonly score: number
}

export type PieceKind = 'prose' | 'item' | 'row' | 'code'

/** The smallest part of a passage that may be shown alone: a paragraph, a list item, a row, some lines of code. */
export interface Piece extends Range {
  readonly kind: PieceKind
  /** Pieces of one section have the same headings, and may be shown together. */
  readonly section: Section
  /** Pieces of one block (list, table, code block) have the same number. */
  readonly block: number
  /** True for prose that introduces what follows it: it ends in a colon, or code follows. */
  readonly leadsIn: boolean
  /** Cells of a row of separated values. */
  readonly cells?: readonly string[]
  /** True if the code block continues before, or after, this piece. */
  readonly isCutBefore?: boolean
  readonly isCutAfter?: boolean
  /** Info string of a fence: `sh`. */
  readonly language?: string
  readonly words: number
  readonly lines: number
}

export interface Section {
  /** The full path: headings of the passage, then those within it. */
  readonly headings: readonly string[]
  /** For code: the opening of the enclosing definition, in this passage. */
  readonly signature?: Range
  /** For a table: the column names. */
  readonly columns?: readonly string[]
}

/** Most lines of code in one piece. */
export const LINES = 10
/** Most lines of a fence that is kept as one piece. */
const WHOLE = 14
/** Scripts without spaces, where about two characters are as long as a word. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/gu

/** Counts words: runs without white space; in scripts without spaces, every second character. */
export function countWords(text: string): number {
  let words = 0
  let inside = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isSpace = code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000
    if (!isSpace && !inside) words++
    inside = !isSpace
  }
  return /[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(text)
    ? words + ((text.match(DENSE)?.length ?? 0) >> 1)
    : words
}

export function countLines(text: string, { start, end }: Range): number {
  let lines = 1
  for (let at = text.indexOf('\n', start); at !== -1 && at < end - 1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** Splits code into pieces of whole lines: one piece if it is short, else cut at blank lines, else after `LINES` lines. */
export function* cutLines(text: string, range: Range): Generator<Range> {
  if (countLines(text, range) <= WHOLE) {
    yield range
    return
  }
  let start = range.start
  let lines = 0
  for (const line of linesOf(text, range.start, range.end, '\n')) {
    const isBlank = text.slice(line.start, line.end).trim() === ''
    if ((isBlank && lines >= LINES / 2) || lines >= LINES) {
      yield { start, end: line.start }
      start = line.start
      lines = 0
    }
    lines++
  }
  if (start < range.end) yield { start, end: range.end }
}
