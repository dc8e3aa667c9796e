/** Compares quantities: whether two can be the same amount, and whether one is in the place of the other. */

import type { Quantity } from '../text/numbers.ts'
import type { Claim } from './mismatch.ts'
import type { Passage } from './passages.ts'
import type { Range } from './range.ts'
import { isDense, wordAt } from './words.ts'

/** Words behind a number that may name what is counted. */
const COUNTED_WITHIN = 3
const FIRST_YEAR = 1000
const LAST_YEAR = 2199
/** Numbers up to here are also counts of what a passage only lists. */
const LARGEST_COUNT = 12

export function isYear({ values, unit, form }: Quantity): boolean {
  const [value = 0] = values
  return form === 'digits' && values.length === 1 && unit === undefined && value >= FIRST_YEAR && value <= LAST_YEAR && Number.isInteger(value)
}

/** Whether two numbers can be the same: also rounded, or converted. */
export function isEqual(one: Quantity, other: Quantity): boolean {
  if ((one.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (one.values.some((a) => other.values.some((b) => isNear(a, b, Math.max(one.step, other.step))))) return true
  return one.unit !== undefined && other.unit !== undefined && isSameAmount(one, other)
}

/** Whether two numbers with their units can be one amount. Kilobytes are written for kibibytes, and a month has no fixed length. */
export function isSameAmount(one: Quantity, other: Quantity): boolean {
  const [unit, theirs] = [one.unit, other.unit]
  if (unit === undefined || theirs === undefined || unit.family !== theirs.family) return false
  if (unit.name === theirs.name || unit.family === 'money') return unit.name === theirs.name && one.values.some((a) => other.values.some((b) => isNear(a, b, Math.max(one.step, other.step))))
  return one.values.some((a) => other.values.some((b) => Math.abs(a * unit.factor - b * theirs.factor) <= CONVERTED * Math.max(a * unit.factor, b * theirs.factor)))
}

/** Share by which converted units may differ. */
const CONVERTED = 0.08

function isNear(a: number, b: number, step: number): boolean {
  const isRounded = (step > 1 || step < 0.1) && Math.min(a, b) >= step
  return Math.abs(a - b) <= (isRounded ? step / 2 : 0) + 1e-9 * Math.abs(a)
}

/** Whether a number of the passage is so much of the same kind that one of them is wrong. */
export function isComparable(claim: Claim, quantity: Quantity, passage: Passage, other: Quantity): boolean {
  if ((quantity.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (isYear(other) !== isYear(quantity)) return false
  // What the statement says too is not in the place of this number.
  if (claim.measured.quantities.some((own) => own !== quantity && isEqual(own, other))) return false
  const isCountOfSame = countsSame(claim, quantity, passage, other)
  if (quantity.unit !== undefined && other.unit !== undefined) return quantity.unit.family === other.unit.family && (quantity.unit.name === other.unit.name || isCountOfSame)
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

export function extent(text: string, { start, end, unitEnd }: Quantity): Range {
  const before = /[$€£¥] ?$/.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  return { start: start - before.length, end: unitEnd ?? end }
}

export function shown(text: string, quantity: Quantity): string {
  const { start, end } = extent(text, quantity)
  const { rate } = quantity
  return text.slice(start, end) + (rate === undefined ? '' : ` per ${rate.name}`)
}

const ROMAN: readonly (readonly [number, string])[] = [[10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']]
const LARGEST_ROMAN = 39
/** Words for a part of a whole, which may be told as a percentage. */
const FRACTION = /(?<!\p{L})(?:half|halves|third|thirds|quarters?|fifths?|hälfte|halb\p{L}*|drittel|viertel|fünftel|mitad|tercios?|terceras?|cuartas?|quintas?|moitié|tiers|quarts?|metà|terzo|terzi|quarto|metade|половин\p{L}*|трет\p{L}*|четверт\p{L}*|نصف|ثلث|ربع)(?!\p{L})|半|分之|ครึ่ง/iu

/** Whether a passage may have a number in a form that is not read: `XVIII`, `’45` for 1945, `three quarters` for 75 %. */
export function mayHave(quantity: Quantity, { places, context, measured, text }: Passage): boolean {
  const [value = 0] = quantity.values
  if (context.has(String(value))) return true
  if (Number.isInteger(value) && value > 0 && value <= LARGEST_ROMAN && places.has(roman(value))) return true
  if (quantity.unit?.family === 'percent' && FRACTION.test(text)) return true
  if (!isYear(quantity)) return false
  const short = value % 100
  return short >= 10 && measured.quantities.some(({ values, unit }) => values[0] === short && unit === undefined)
}

function roman(value: number): string {
  let rest = value
  let written = ''
  for (const [number, letters] of ROMAN) {
    for (; rest >= number; rest -= number) written += letters
  }
  return written
}
