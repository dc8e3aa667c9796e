/** A stretch of a text that may stand alone in an answer. */

import type { Delimiter } from '../../text/separated-values.ts'

/** A range of a text in UTF-16 offsets, white space at both ends left out. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface Unit extends Stretch {
  readonly kind: UnitKind
  /** Number of the paragraph, list or other block; units of one block follow each other without a break. */
  readonly block: number
  /** Of what speaks for the units below it, as a heading does: the lower the number, the further. Questions are 8, lead-ins 9. */
  readonly level?: number
  /** Headings of this level and further down do not speak for it. */
  readonly under?: number
  /** Number of the column of a cell. */
  readonly column?: number
  /** Begins in the middle of a sentence, after a footnote mark. */
  readonly headless?: boolean
}

/** `row` is one cell of a table row; the cells of a row share their block. `columns` is the name of a column. */
export type UnitKind = 'sentence' | 'item' | 'row' | 'columns' | 'heading' | 'code'

/** Lines that belong together, before they are parted into units. */
export interface Block {
  start: number
  end: number
  kind: UnitKind
  level?: number
  /** Of a row: what parts its cells; absent for `|`. */
  separator?: Delimiter
  /** Code that may be quoted together with the remark above it. */
  follows?: boolean
}
