/** Compares quantities: decides whether two can be the same amount, after rounding and conversion of units. */

import type { Range } from '../util/range.ts'
import type { Quantity } from './numbers.ts'

const FIRST_YEAR = 1000
const LAST_YEAR = 2199
export function isYear({ values, unit, form }: Quantity): boolean {
  const [value = 0] = values
  return (
    form === 'digits' &&
    values.length === 1 &&
    unit === undefined &&
    value >= FIRST_YEAR &&
    value <= LAST_YEAR &&
    Number.isInteger(value)
  )
}

/** Reports whether two numbers can be equal, also after rounding. */
export function isEqual(one: Quantity, other: Quantity): boolean {
  if ((one.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (one.values.some((a) => other.values.some((b) => isNear(a, b, Math.max(one.step, other.step))))) return true
  return one.unit !== undefined && other.unit !== undefined && isSameAmount(one, other)
}

/** Reports whether two numbers with their units can be one amount. Kilobytes may mean kibibytes, and the length of a month varies. */
export function isSameAmount(one: Quantity, other: Quantity): boolean {
  const [unit, theirs] = [one.unit, other.unit]
  if (unit === undefined || theirs === undefined || unit.family !== theirs.family) return false
  if (unit.name === theirs.name || unit.family === 'money')
    return (
      unit.name === theirs.name && one.values.some((a) => other.values.some((b) => isNear(a, b, Math.max(one.step, other.step))))
    )
  return one.values.some((a) =>
    other.values.some(
      (b) => Math.abs(a * unit.factor - b * theirs.factor) <= CONVERTED * Math.max(a * unit.factor, b * theirs.factor),
    ),
  )
}

/** Relative difference allowed between converted units. */
const CONVERTED = 0.08

function isNear(a: number, b: number, step: number): boolean {
  const isRounded = (step > 1 || step < 0.1) && Math.min(a, b) >= step
  return Math.abs(a - b) <= (isRounded ? step / 2 : 0) + 1e-9 * Math.abs(a)
}

const ROMAN: readonly (readonly [number, string])[] = [
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]
export const LARGEST_ROMAN = 39
/** Words for a fraction, which may also be given as a percentage. */
export const FRACTION: RegExp =
  /(?<!\p{L})(?:half|halves|third|thirds|quarters?|fifths?|hälfte|halb\p{L}*|drittel|viertel|fünftel|mitad|tercios?|terceras?|cuartas?|quintas?|moitié|tiers|quarts?|metà|terzo|terzi|quarto|metade|половин\p{L}*|трет\p{L}*|четверт\p{L}*|نصف|ثلث|ربع)(?!\p{L})|半|分之|ครึ่ง/iu

/** Returns a number up to 39 as lower-case Roman numerals. */
export function roman(value: number): string {
  let rest = value
  let written = ''
  for (const [number, letters] of ROMAN) {
    for (; rest >= number; rest -= number) written += letters
  }
  return written
}

/** Returns the range of a quantity together with its unit. */
export function extent(text: string, { start, end, unitEnd }: Quantity): Range {
  const before = /[$€£¥] ?$/.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  return { start: start - before.length, end: unitEnd ?? end }
}

/** Returns a quantity as written, with its unit and rate. */
export function shown(text: string, quantity: Quantity): string {
  const { start, end } = extent(text, quantity)
  const { rate } = quantity
  return text.slice(start, end) + (rate === undefined ? '' : ` per ${rate.name}`)
}
