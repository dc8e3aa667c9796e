/** Finds table values that are in another row or column than the statement says. */

import { isComparable } from './quantities.ts'
import { isEqual, shown } from '../text/same-amount.ts'
import type { Quantity } from '../text/numbers.ts'
import { reasonFor } from './passages.ts'
import { cellsBefore, columnOf } from '../text/comparable-words.ts'
import type { Claim, Mismatch, Passage } from './passages.ts'
import type { Window } from '../text/comparable-words.ts'
import { beginningIn, firstIndex } from '../util/range.ts'

/** Most rows of a passage, and most numbers in it, that are read for a statement; bounds the cost. */
const MOST_ROWS = 300
const MOST_NUMBERS = 2000
/** Most numbers of a statement that are searched in them; bounds the cost. */
const MOST_SAID = 8

/** Returns a number that is in no row, or in no column, that the statement names, while a comparable number is. */
export function cellMismatch(claim: Claim): Mismatch | undefined {
  for (const passage of claim.cited) {
    const rows = passage.windows.slice(0, MOST_ROWS).filter(({ isRow }) => isRow)
    if (rows.length < 2) continue
    for (const quantity of claim.measured.quantities.slice(0, MOST_SAID)) {
      const found = misplacedCell(claim, quantity, passage, rows)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function misplacedCell(claim: Claim, quantity: Quantity, passage: Passage, rows: readonly Window[]): Mismatch | undefined {
  const equal = passage.measured.quantities.slice(0, MOST_NUMBERS).filter((other) => isEqual(quantity, other))
  const rowOf = ({ start }: Quantity): Window | undefined => rows[firstIndex(rows, ({ end }) => end > start)]
  const holders = equal.map((other) => ({ other, row: rowOf(other) }))
  // A number that also occurs in prose is not evidence about rows.
  if (holders.length === 0 || holders.some(({ other, row }) => row === undefined || other.start < row.start)) return undefined
  const labels = [...claim.weights.keys()].filter((key) => isLabel(claim, key, passage, rows))
  const named = rows.filter((row) => labels.some((key) => hasKey(passage, row, key)))
  const isThere = holders.some(
    ({ other, row }) => row !== undefined && (named.includes(row) || labels.some((key) => isUnder(passage, other, row, key))),
  )
  if (labels.length === 0 || isThere) return undefined
  const inRow = named.flatMap((row) => beginningIn(passage.measured.quantities, row))
  const inColumn = holders.flatMap(({ row }) =>
    row === undefined
      ? []
      : beginningIn(passage.measured.quantities, row).filter((other) => labels.some((key) => isUnder(passage, other, row, key))),
  )
  const other = [...inColumn, ...inRow].find((candidate) => isComparable(claim, quantity, passage, candidate))
  if (other === undefined) return undefined
  const reason = reasonFor(shown(claim.text, quantity), shown(passage.text, other), 'the row or column that it names has')
  return { kind: 'cell', reason, passage, range: rowOf(other) ?? other }
}

function hasKey({ keys }: Passage, { from, to }: Window, key: string): boolean {
  for (let at = from; at < to; at++) if (keys[at] === key) return true
  return false
}

/** Reports whether a word labels rows or columns: it is a name that only some of them have. */
function isLabel(claim: Claim, key: string, passage: Passage, rows: readonly Window[]): boolean {
  const at = claim.keys.indexOf(key)
  if (!/\p{L}/u.test(key) || !/^\p{Lu}|\p{N}|\p{Ll}\p{Lu}/u.test(claim.text.slice(claim.starts[at], claim.ends[at]))) return false
  const count = rows.filter((row) => hasKey(passage, row, key)).length
  return (
    (count > 0 && count <= Math.max(2, rows.length / 2)) ||
    rows.some(({ header }) => header !== undefined && columnOf(passage, header.start, header.end, key) !== undefined)
  )
}

/** Reports whether a number is in the column that a word of the header names. */
function isUnder(passage: Passage, { start }: Quantity, { start: from, header }: Window, key: string): boolean {
  if (header === undefined) return false
  const column = columnOf(passage, header.start, header.end, key)
  return column !== undefined && column === cellsBefore(passage.text.slice(from, start))
}
