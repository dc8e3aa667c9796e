/** Numbers, dates and units of a statement that its passages contradict. */

import { agree } from '../text/dates.ts'
import type { DateMention } from '../text/dates.ts'
import type { Quantity } from '../text/numbers.ts'
import { extent, isComparable, isEqual, isSameAmount, isYear, shown } from './amounts.ts'
import { reasonFor } from './mismatch.ts'
import type { Claim, Mismatch } from './mismatch.ts'
import type { Near, Passage } from './passages.ts'
import { wordAt } from './words.ts'

/** Quantities of a passage that are compared with each of a statement, those of the nearest windows first: a bound on the cost. */
const MOST_COMPARED = 400

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
  const [other] = all.filter((candidate) => isComparable(claim, quantity, candidate.passage, candidate.quantity))
  return other === undefined ? undefined : mismatch('number', said, other)
}

/** The same number with another unit: every place that has the number measures something of that kind by another unit. */
function unitMismatch(claim: Claim, quantity: Quantity, equal: readonly Other[], all: readonly Other[], said: string): Mismatch | undefined {
  const { unit, rate } = quantity
  const [first] = equal
  if (first === undefined) return undefined
  const isOther = ({ quantity: other }: Other): boolean => unit !== undefined && other.unit !== undefined && other.unit.family === unit.family && !isSameAmount(quantity, other)
  if (equal.every(isOther)) {
    const sameUnit = all.find((candidate) => isComparable(claim, quantity, candidate.passage, candidate.quantity))
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
  const there = all.find((other) => other.rank === 0 && isComparable(claim, quantity, other.passage, other.quantity))
  return there === undefined ? undefined : mismatch(isYear(quantity) ? 'date' : 'number', said, there)
}

/** Sums and differences of two numbers of the same kind, and years between two dates, are arithmetic, not errors. */
function isDerived(claim: Claim, quantity: Quantity, all: readonly Other[]): boolean {
  const [value = 0] = quantity.values
  const isOne = (x: number): boolean => Math.abs(x - value) < 1e-9 * Math.max(1, value)
  const sameKind = all.filter((other) => (isYear(other.quantity) ? quantity.unit?.name === 'year' : isComparable(claim, quantity, other.passage, other.quantity))).slice(0, 12)
  return sameKind.some(({ quantity: one }, at) =>
    sameKind.slice(at + 1).some(({ quantity: other }) => {
      const [a = 0, b = 0] = [one.values[0], other.values[0]]
      return isYear(one) === isYear(other) && (isOne(Math.abs(a - b)) || (!isYear(one) && isOne(a + b)))
    }),
  )
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
  return { kind: 'date', reason: reasonFor(said, passage.text.slice(start, end)), passage, range: { start, end } }
}

function mismatch(kind: Mismatch['kind'], said: string, { passage, quantity }: Other): Mismatch {
  const range = extent(passage.text, quantity)
  return { kind, reason: reasonFor(said, shown(passage.text, quantity)), passage, range }
}

