/** Numbers, dates and units of a statement that its passages contradict. */

import { agree } from '../text/dates.ts'
import type { DateMention } from '../text/dates.ts'
import type { Quantity } from '../text/numbers.ts'

import type { Claim, Mismatch } from './mismatch.ts'
import type { Near, Passage } from './passages.ts'
import type { Range } from './range.ts'
import { isDense, wordAt } from './words.ts'

/** Quantities of a passage that are compared with each of a statement, those of the nearest windows first: a bound on the cost. */
const MOST_COMPARED = 400
/** Words behind a number that may name what is counted. */
const COUNTED_WITHIN = 3
const FIRST_YEAR = 1000
const LAST_YEAR = 2199

export function quantityMismatch(claim: Claim): Mismatch | undefined {
  for (const date of claim.measured.dates) {
    const found = dateMismatch(claim, date)
    if (found !== undefined) return found
  }
  for (const quantity of claim.measured.quantities) {
    // `one`, `a` and `single` are words of grammar as often as numbers.
    if (quantity.form === 'word' && quantity.values[0] === 1) continue
    const found = numberMismatch(claim, quantity)
    if (found !== undefined) return found
  }
  return undefined
}

interface Other {
  readonly passage: Passage
  readonly quantity: Quantity
  /** Rank of its window, 0 for the nearest. */
  readonly rank: number
  /** Words of the statement that stand beside it. */
  readonly beside: number
}

function others({ cited, near, weights }: Claim): Other[] {
  const rankOf = new Map(near.map(({ window }, rank) => [window, rank]))
  return cited
    .flatMap((passage) => {
      const found: Other[] = []
      let at = 0
      for (const quantity of passage.measured.quantities) {
        while ((passage.windows[at]?.end ?? Infinity) <= quantity.start) at++
        const window = passage.windows[at]
        found.push({ passage, quantity, rank: (window === undefined ? undefined : rankOf.get(window)) ?? near.length, beside: 0 })
      }
      return found
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_COMPARED)
    .map((other) => ({ ...other, beside: wordsBeside(other, weights) }))
    .sort((a, b) => a.rank - b.rank || b.beside - a.beside)
}

/** Words of a passage on either side of a number that tell what it is about. */
const BESIDE = 8

function wordsBeside({ passage, quantity }: Other, weights: Claim['weights']): number {
  const at = wordAt(passage, quantity.start)
  return new Set(passage.keys.slice(Math.max(0, at - BESIDE), at + BESIDE).filter((key) => weights.has(key))).size
}

function numberMismatch(claim: Claim, quantity: Quantity): Mismatch | undefined {
  const all = others(claim)
  const [value = 0] = quantity.values
  const equal = all.filter((other) => isEqual(quantity, other.quantity))
  const said = shown(claim.text, quantity)
  if (equal.length > 0) return unitMismatch(claim, quantity, equal, all, said) ?? boundMismatch(claim, quantity, equal, all, said)
  if (claim.cited.some(({ context }) => context.has(String(value)))) return undefined
  if (isYear(quantity)) {
    const years = claim.cited.flatMap((passage) => passage.measured.dates.filter(({ year }) => year === value))
    if (years.length > 0) return undefined
    const [other] = all.filter((candidate) => isYear(candidate.quantity) && candidate.rank < claim.near.length)
    const date = nearestDate(claim, ({ year }) => year !== undefined)
    if (other !== undefined) return mismatch('date', said, other)
    return date === undefined ? undefined : dated(said, date)
  }
  if (isDerived(claim, quantity, all)) return undefined
  const [other] = all.filter((candidate) => isComparable(claim, quantity, candidate))
  return other === undefined ? undefined : mismatch('number', said, other)
}

function isYear({ values, unit, form }: Quantity): boolean {
  const [value = 0] = values
  return form === 'digits' && values.length === 1 && unit === undefined && value >= FIRST_YEAR && value <= LAST_YEAR && Number.isInteger(value)
}

/** Whether two numbers can be the same: also rounded, or converted. */
function isEqual(one: Quantity, other: Quantity): boolean {
  if ((one.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (one.values.some((a) => other.values.some((b) => isNear(a, b, Math.max(one.step, other.step))))) return true
  return one.unit !== undefined && other.unit !== undefined && isSameAmount(one, other)
}

/** Whether two numbers with their units can be one amount. Kilobytes are written for kibibytes, and a month has no fixed length. */
function isSameAmount(one: Quantity, other: Quantity): boolean {
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

/** The same number with another unit: every place that has the number measures something of that kind by another unit. */
function unitMismatch(claim: Claim, quantity: Quantity, equal: readonly Other[], all: readonly Other[], said: string): Mismatch | undefined {
  const { unit, rate } = quantity
  const [first] = equal
  if (first === undefined) return undefined
  const isOther = ({ quantity: other }: Other): boolean => unit !== undefined && other.unit !== undefined && other.unit.family === unit.family && !isSameAmount(quantity, other)
  if (equal.every(isOther)) {
    const sameUnit = all.find((candidate) => isComparable(claim, quantity, candidate))
    return sameUnit === undefined ? mismatch('unit', said, first) : mismatch('number', said, sameUnit)
  }
  const isOtherRate = ({ quantity: other }: Other): boolean => rate !== undefined && other.rate !== undefined && rate.name !== other.rate.name
  return equal.every(isOtherRate) ? mismatch('unit', said, first) : undefined
}

/** Share of the statement that the nearest window holds, and by which it holds more than a window with the number. */
const SURE = 0.6
const MARGIN = 0.3

/** A number that stands in the passage, but in another place than the rest of the statement, where another one of its kind stands. */
function boundMismatch(claim: Claim, quantity: Quantity, equal: readonly Other[], all: readonly Other[], said: string): Mismatch | undefined {
  const [best] = claim.near
  if (best === undefined || best.share < SURE || claim.measured.quantities.length + claim.measured.dates.length > 1) return undefined
  const shareAt = ({ rank }: Other): number => claim.near[rank]?.share ?? 0
  if (equal.some((other) => shareAt(other) > best.share - MARGIN)) return undefined
  const there = all.find((other) => other.rank === 0 && isComparable(claim, quantity, other))
  return there === undefined ? undefined : mismatch(isYear(quantity) ? 'date' : 'number', said, there)
}

/** Sums and differences of two numbers of the same kind, and years between two dates, are arithmetic, not errors. */
function isDerived(claim: Claim, quantity: Quantity, all: readonly Other[]): boolean {
  const [value = 0] = quantity.values
  const isOne = (x: number): boolean => Math.abs(x - value) < 1e-9 * Math.max(1, value)
  const sameKind = all.filter((other) => (isYear(other.quantity) ? quantity.unit?.name === 'year' : isComparable(claim, quantity, other))).slice(0, 12)
  return sameKind.some(({ quantity: one }, at) =>
    sameKind.slice(at + 1).some(({ quantity: other }) => {
      const [a = 0, b = 0] = [one.values[0], other.values[0]]
      return isYear(one) === isYear(other) && (isOne(Math.abs(a - b)) || (!isYear(one) && isOne(a + b)))
    }),
  )
}

/** Whether a number of the passage is so much of the same kind that one of them is wrong. */
function isComparable(claim: Claim, quantity: Quantity, { quantity: other, passage }: Other): boolean {
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
  return quantity.form === 'digits' && (value > 12 || !Number.isInteger(value))
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

function dateMismatch(claim: Claim, date: DateMention): Mismatch | undefined {
  const dates = claim.cited.flatMap((passage) => passage.measured.dates)
  if (dates.some((other) => agree(date, other))) return undefined
  const said = claim.text.slice(date.start, date.end)
  const other = nearestDate(claim, (candidate) => candidate.month === date.month || (candidate.year !== undefined && candidate.year === date.year))
  if (other !== undefined) return dated(said, other)
  if (date.year === undefined || hasYear(claim, date.year)) return undefined
  const year = nearestDate(claim, (candidate) => candidate.year !== undefined)
  return year === undefined ? undefined : dated(said, year)
}

function hasYear({ cited }: Claim, year: number): boolean {
  return cited.some(({ measured }) => measured.quantities.some(({ values }) => values.includes(year)) || measured.dates.some((date) => date.year === year))
}

interface Dated {
  readonly passage: Passage
  readonly date: DateMention
}

/** The date that fits, in the nearest window that has one. */
function nearestDate({ near, cited }: Claim, fits: (date: DateMention) => boolean): Dated | undefined {
  const inside = ({ window, passage }: Near): Dated[] =>
    passage.measured.dates.filter(({ start }) => start >= window.start && start < window.end).map((date) => ({ passage, date }))
  return (
    near.flatMap(inside).find(({ date }) => fits(date)) ??
    cited.flatMap((passage) => passage.measured.dates.map((date) => ({ passage, date }))).find(({ date }) => fits(date))
  )
}

function dated(said: string, { passage, date: { start, end } }: Dated): Mismatch {
  return { kind: 'date', reason: `says “${said}” where the passage has “${passage.text.slice(start, end)}”`, passage, range: { start, end } }
}

function mismatch(kind: Mismatch['kind'], said: string, { passage, quantity }: Other): Mismatch {
  const range = extent(passage.text, quantity)
  return { kind, reason: `says “${said}” where the passage has “${shown(passage.text, quantity)}”`, passage, range }
}

function extent(text: string, { start, end, unitEnd }: Quantity): Range {
  const before = /[$€£¥] ?$/.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  return { start: start - before.length, end: unitEnd ?? end }
}

function shown(text: string, quantity: Quantity): string {
  const { start, end } = extent(text, quantity)
  const { rate } = quantity
  return text.slice(start, end) + (rate === undefined ? '' : ` per ${rate.name}`)
}
