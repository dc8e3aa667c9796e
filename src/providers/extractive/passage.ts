/** The passages that an answer is taken from, and the pieces that they are read into. */

import type { Range } from '../../util/range.ts'

/** A passage of a document, as retrieval found it. */
export interface Passage {
  /** What cites it, without brackets: `1`. */
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
