/** The passages that an answer is taken from, the pieces that they are read into, and how long these are. */

import { linesOf } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'

/** A passage of a document, as retrieval found it. */
export interface Passage {
  /** The marker that cites it, without brackets: `1`. */
  readonly marker: string
  readonly source: string
  readonly text: string
  readonly title?: string | undefined
  /** Headings above it, outermost first; of code the enclosing definitions, of a table the names of its columns. */
  readonly headings?: readonly string[] | undefined
  /** Share of the score of the best passage of the same store, 0 to 1. */
  readonly score: number
}

export type PieceKind = 'prose' | 'item' | 'row' | 'code'

/** The smallest part of a passage that may be shown by itself: a paragraph, a list item, a row, some lines of code. */
export interface Piece extends Range {
  readonly kind: PieceKind
  /** Pieces of one section stand under the same headings, and may be shown together. */
  readonly section: Section
  /** Pieces of one block (list, table, code block) have the same number. */
  readonly block: number
  /** Prose that announces what follows it: it ends in a colon, or code follows. */
  readonly leadsIn: boolean
  /** Of a row of separated values. */
  readonly cells?: readonly string[]
  /** Lines of its code block stand before it, or after it, that are not part of it. */
  readonly isCutBefore?: boolean
  readonly isCutAfter?: boolean
  /** Info string of a fence: `sh`. */
  readonly language?: string
  readonly words: number
  readonly lines: number
}

export interface Section {
  /** The whole path: headings of the passage, then those within it. */
  readonly headings: readonly string[]
  /** Of code: where the definition that encloses it is opened, in this passage. */
  readonly signature?: Range
  /** Of a table: the names of its columns. */
  readonly columns?: readonly string[]
}

/** Lines of code in one piece at most. */
const LINES = 10
/** Lines of a fence that is shown whole. */
const WHOLE = 14
/** Characters of scripts without spaces that are about as long as one word. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/gu

/** Words as a reader counts them: runs without white space; of scripts without spaces every second character. */
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

/** Code in pieces of whole lines: all of it where it is short, else cut at blank lines, else after so many lines. */
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
