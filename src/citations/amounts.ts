/** Tells whether a number of a passage is in the place of one of a statement. */

import type { Quantity } from '../text/numbers.ts'
import { FRACTION, isEqual, isYear, LARGEST_ROMAN, roman } from '../text/same-amount.ts'
import type { Claim } from './mismatch.ts'
import type { Passage } from './passages.ts'
import { isDense, stemOf, wordAt } from '../text/comparable-words.ts'

/** Words behind a number that may name what is counted. */
const COUNTED_WITHIN = 3
/** Numbers up to here are also counts of what a passage only lists. */
const LARGEST_COUNT = 12
/** Numbers of a statement that are compared: a bound on the cost. */
const MOST_SAID = 20
/** Numbers of a passage that each number of a statement is compared with. */
export const MOST_COMPARED = 400

/** Whether a number of the passage is so much of the same kind that one of them is wrong. */
export function isComparable(claim: Claim, quantity: Quantity, passage: Passage, other: Quantity): boolean {
  if ((quantity.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (isYear(other) !== isYear(quantity)) return false
  // What the statement says too is not in the place of this number.
  if (claim.measured.quantities.slice(0, MOST_SAID).some((own) => own !== quantity && isEqual(own, other))) return false
  const isCountOfSame = countsSame(claim, quantity, passage, other)
  if (quantity.unit !== undefined && other.unit !== undefined)
    return quantity.unit.family === other.unit.family && (quantity.unit.name === other.unit.name || isCountOfSame)
  if (quantity.unit !== undefined || other.unit !== undefined) return false
  if (isCountOfSame) return true
  // A small number may count what the passage only lists.
  const [value = 0] = quantity.values
  return quantity.form === 'digits' && other.form === 'digits' && (value > LARGEST_COUNT || !Number.isInteger(value))
}

/** Whether what stands behind both numbers is the same thing. */
function countsSame(claim: Claim, quantity: Quantity, passage: Passage, other: Quantity): boolean {
  const own = wordAt(claim, quantity.end)
  const their = wordAt(passage, other.end)
  const [ownWord = '', theirWord = ''] = [claim.words[own], passage.words[their]]
  if (isDense(ownWord) || isDense(theirWord)) return ownWord === theirWord
  const counted = new Set(passage.keys.slice(their, their + COUNTED_WITHIN).filter((key) => key.length > 3))
  return claim.keys.slice(own, own + COUNTED_WITHIN).some((key) => counted.has(key) && claim.weights.has(key))
}

/** Whether a passage may have a number in a form that is not read: `XVIII`, `’45` for 1945, `three quarters` for 75 %. */
export function mayHave(quantity: Quantity, { places, context, measured, text, values: known }: Passage): boolean {
  const [value = 0] = quantity.values
  // Beyond the numbers that are compared, an equal one is enough.
  if (measured.quantities.length > MOST_COMPARED && quantity.values.some((each) => known.has(each))) return true
  if (context.has(String(value))) return true
  if (Number.isInteger(value) && value > 0 && value <= LARGEST_ROMAN && places.has(stemOf(roman(value)))) return true
  if (quantity.unit?.family === 'percent' && FRACTION.test(text)) return true
  if (!isYear(quantity)) return false
  const short = value % 100
  return short >= 10 && known.has(short)
}
