/** Computes the widths of columns where a table does not fit. Pure. */

import { longestWord } from './styled.ts'
import { widthOf } from '../../util/cells.ts'

/** A column that is narrower is hard to read, unless all of it fits. */
const NARROWEST = 8

interface Limits {
  readonly least: number
  readonly most: number
}

/**
 * The width of each column so that all of them fit, the widest made narrower first, and no word is parted; `undefined` when they cannot.
 *
 * @param rows of equally many cells.
 * @param room cells for all columns together.
 */
export function columnWidths(rows: readonly (readonly string[])[], room: number): readonly number[] | undefined {
  const [first = []] = rows
  const limits = first.map((_, index): Limits => {
    const most = rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 1)
    const longest = rows.reduce((widest, row) => Math.max(widest, longestWord(row[index] ?? '')), 0)
    return { least: Math.max(1, longest, Math.min(most, NARROWEST)), most }
  })
  for (let cap = Math.min(room, Math.max(0, ...limits.map(({ most }) => most))); cap >= 0; cap--) {
    const widths = limits.map(({ least, most }) => Math.max(least, Math.min(most, cap)))
    const left = room - widths.reduce((sum, width) => sum + width, 0)
    if (left >= 0) return spread(widths, limits, left)
  }
  return undefined
}

/** What is left, to the first columns that need it. */
function spread(widths: readonly number[], limits: readonly Limits[], left: number): readonly number[] {
  let rest = left
  return widths.map((width, index) => {
    const more = Math.min(rest, (limits[index]?.most ?? width) > width ? 1 : 0)
    rest -= more
    return width + more
  })
}
