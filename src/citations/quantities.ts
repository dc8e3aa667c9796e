/** Finds numbers, dates and units of a statement that its passages contradict. */

import { isDense, stemOf, wordAt } from '../text/comparable-words.ts'
import { agree } from '../text/dates.ts'
import type { DateMention } from '../text/dates.ts'
import { COUNTED_BEFORE, halfStep, NEARLY } from '../text/numbers.ts'
import type { Quantity } from '../text/numbers.ts'
import { FRACTION, isEqual, isYear, LARGEST_ROMAN, roman, extent, isSameAmount, shown } from '../text/same-amount.ts'
import { beginningIn } from '../util/range.ts'
import { nearest, reasonFor } from './passages.ts'
import type { Claim, Mismatch, Near, Passage } from './passages.ts'

/** Most words after a number among which the counted thing is searched. */
const COUNTED_WITHIN = 3
/** Numbers up to this one may count the items of an enumeration in a passage. */
const LARGEST_COUNT = 12
/** Most numbers of a statement that are compared; bounds the cost. */
const MOST_SAID = 20
/** Most numbers of a passage that each number of a statement is compared with. */
const MOST_COMPARED = 400

/** Reports whether a number of the passage is so similar in kind that one of the two must be wrong. */
export function isComparable(claim: Claim, quantity: Quantity, passage: Passage, other: Quantity): boolean {
  if ((quantity.form === 'ordinal') !== (other.form === 'ordinal')) return false
  if (isYear(other) !== isYear(quantity)) return false
  // A number that the statement also has does not replace this one.
  if (claim.measured.quantities.slice(0, MOST_SAID).some((own) => own !== quantity && isEqual(own, other))) return false
  const isCountOfSame = countsSame(claim, quantity, passage, other)
  if (quantity.unit !== undefined && other.unit !== undefined)
    return quantity.unit.family === other.unit.family && (quantity.unit.name === other.unit.name || isCountOfSame)
  if (quantity.unit !== undefined || other.unit !== undefined) return false
  if (isCountOfSame) return true
  // A small number may count the items that the passage enumerates.
  const [value = 0] = quantity.values
  return quantity.form === 'digits' && other.form === 'digits' && (value > LARGEST_COUNT || !Number.isInteger(value))
}

/** Reports whether the same thing follows both numbers. */
function countsSame(claim: Claim, quantity: Quantity, passage: Passage, other: Quantity): boolean {
  const own = wordAt(claim, quantity.end)
  const their = wordAt(passage, other.end)
  const [ownWord = '', theirWord = ''] = [claim.words[own], passage.words[their]]
  if (isDense(ownWord) || isDense(theirWord)) return ownWord === theirWord
  const counted = new Set(passage.keys.slice(their, their + COUNTED_WITHIN).filter((key) => key.length > 3))
  return claim.keys.slice(own, own + COUNTED_WITHIN).some((key) => counted.has(key) && claim.weights.has(key))
}

/** Reports whether a passage may have a number in an unsupported form: `XVIII`, `’45` for 1945, `three quarters` for 75 %. */
function mayHave(quantity: Quantity, { places, context, measured, text, values: known }: Passage): boolean {
  const [value = 0] = quantity.values
  // Beyond the compared numbers, one equal value suffices.
  if (measured.quantities.length > MOST_COMPARED && quantity.values.some((each) => known.has(each))) return true
  if (context.has(String(value))) return true
  if (Number.isInteger(value) && value > 0 && value <= LARGEST_ROMAN && places.has(stemOf(roman(value)))) return true
  if (quantity.unit?.family === 'percent' && FRACTION.test(text)) return true
  if (!isYear(quantity)) return false
  const short = value % 100
  return short >= 10 && known.has(short)
}

export function quantityMismatch(claim: Claim): Mismatch | undefined {
  for (const date of claim.measured.dates.slice(0, MOST_SAID)) {
    if (date.year === undefined && date.day === undefined) continue
    const found = dateMismatch(claim, date)
    if (found !== undefined) return found
  }
  const all = others(claim)
  for (const quantity of claim.measured.quantities.slice(0, MOST_SAID)) {
    // `one`, `a` and `single` are function words as often as numbers.
    if (quantity.form === 'word' && quantity.values[0] === 1) continue
    const found = numberMismatch(claim, quantity, all)
    if (found !== undefined) return found
  }
  return unitWordMismatch(claim)
}

/** Least share of the rest of a statement that a window must hold for its unit to count as the replaced one. */
const SAME_MEASURE = 0.5

/** Returns a unit without a number where the passage has another unit without a number. */
function unitWordMismatch(claim: Claim): Mismatch | undefined {
  for (const { unit, start, end } of claim.measured.unitWords) {
    const word = wordAt(claim, start)
    const total = [...claim.weights.values()].reduce((sum, weight) => sum + weight, 0)
    const rest = total - (claim.weights.get(claim.keys[word] ?? '') ?? 0)
    const near = claim.near.find(({ share }) => share * total >= SAME_MEASURE * rest)
    const isThere = claim.cited.some(({ measured: { unitWords, quantities } }) =>
      [...unitWords, ...quantities].some((other) => other.unit?.name === unit.name),
    )
    const other = near?.passage.measured.unitWords.find(
      (their) => their.unit.family === unit.family && their.start >= near.window.start && their.end <= near.window.end,
    )
    if (near === undefined || other === undefined || isThere) continue
    const { passage } = near
    const reason = reasonFor(claim.text.slice(start, end), passage.text.slice(other.start, other.end))
    return { kind: 'unit', reason, passage, range: other }
  }
  return undefined
}

interface Other {
  readonly passage: Passage
  readonly quantity: Quantity
  /** Rank of its window, 0 for the nearest. */
  readonly rank: number
  /** Number of words of the statement next to it. */
  readonly beside: number
}

function others({ cited, near, weights }: Claim): Other[] {
  const seen = new Set<Quantity>()
  const found: Other[] = []
  const add = (passage: Passage, quantities: readonly Quantity[], rank: number): void => {
    for (const quantity of quantities.slice(0, MOST_COMPARED)) {
      if (seen.has(quantity)) continue
      seen.add(quantity)
      found.push({ passage, quantity, rank, beside: wordsBeside(passage, quantity, weights) })
    }
  }
  for (const [rank, { passage, window }] of near.entries()) add(passage, beginningIn(passage.measured.quantities, window), rank)
  for (const passage of cited) add(passage, passage.measured.quantities, near.length)
  return found.sort((a, b) => a.rank - b.rank || b.beside - a.beside)
}

/** Words on either side of a number that show its subject. */
const BESIDE = 8

function wordsBeside(passage: Passage, quantity: Quantity, weights: Claim['weights']): number {
  const at = wordAt(passage, quantity.start)
  return new Set(passage.keys.slice(Math.max(0, at - BESIDE), at + BESIDE).filter((key) => weights.has(key))).size
}

/** A number of a statement with the numbers of its passages. */
interface Said {
  readonly claim: Claim
  readonly quantity: Quantity
  /** The number as written in the statement. */
  readonly said: string
  readonly all: readonly Other[]
  /** Those of the passages' numbers that are equal to it. */
  readonly equal: readonly Other[]
}

const LONGEST_HEDGE = 16

function numberMismatch(claim: Claim, quantity: Quantity, all: readonly Other[]): Mismatch | undefined {
  const before = claim.text.slice(Math.max(0, quantity.start - LONGEST_HEDGE), quantity.start)
  const [value = 0] = quantity.values
  const isNearly = NEARLY.test(before)
  const equal = all.filter(
    ({ quantity: other }) =>
      isEqual(quantity, other) || (isNearly && other.values.some((theirs) => Math.abs(theirs - value) <= halfStep(value))),
  )
  const said = shown(claim.text, quantity)
  const asked: Said = { claim, quantity, said, all, equal }
  if (equal.length > 0) return unitMismatch(asked) ?? boundMismatch(asked)
  if (claim.cited.some((passage) => mayHave(quantity, passage))) return undefined
  if (isYear(quantity)) return yearMismatch(asked)
  if (COUNTED_BEFORE.test(before) || isDerived(claim, quantity, all)) return undefined
  const other = all.find((candidate) => isComparable(claim, quantity, candidate.passage, candidate.quantity))
  return other === undefined ? undefined : mismatch('number', said, other)
}

function yearMismatch({ claim, quantity, said, all }: Said): Mismatch | undefined {
  const [value = 0] = quantity.values
  // Matches decades and centuries: `the 1970s`, `die 1970er`, `the 1700s`.
  const isSpan = value % 10 === 0 && /^(?:s|er|-е|х)/u.test(claim.text.slice(quantity.end, quantity.end + 2))
  const span = !isSpan ? 1 : value % 100 === 0 ? 100 : 10
  if (yearsOf(claim).some((year) => year >= value && year < value + span)) return undefined
  if (span === 100 && all.some(({ quantity: { form, values } }) => form === 'ordinal' && values[0] === value / 100 + 1))
    return undefined
  const other = all.find((candidate) => isYear(candidate.quantity))
  const date = nearestDate(claim, ({ year }) => year !== undefined)
  if (other !== undefined) return mismatch('date', said, other)
  return date === undefined ? undefined : dated(said, date)
}

/** Returns all years in the passages. */
function yearsOf({ cited }: Claim): number[] {
  return cited.flatMap(({ years }) => [...years])
}

/** Finds an equal number with another unit: every place with the number measures the same kind of thing in another unit. */
function unitMismatch({ claim, quantity, said, all, equal }: Said): Mismatch | undefined {
  const { unit, rate } = quantity
  const [first] = equal
  if (first === undefined) return undefined
  const isOther = ({ quantity: other }: Other): boolean =>
    unit !== undefined && other.unit !== undefined && other.unit.family === unit.family && !isSameAmount(quantity, other)
  if (equal.every(isOther)) {
    const sameUnit = all.find((candidate) => isComparable(claim, quantity, candidate.passage, candidate.quantity))
    return sameUnit === undefined ? mismatch('unit', said, first) : mismatch('number', said, sameUnit)
  }
  const isOtherRate = ({ quantity: other }: Other): boolean =>
    rate !== undefined && other.rate !== undefined && rate.name !== other.rate.name
  return equal.every(isOtherRate) ? mismatch('unit', said, first) : undefined
}

/** Least share of the statement in the nearest window, and its least lead over a window with the number. */
const SURE = 0.6
const MARGIN = 0.3

/** Finds a number that the passage has only far from the rest of the statement, near which there is another number of its kind. */
function boundMismatch({ claim, quantity, said, all, equal }: Said): Mismatch | undefined {
  if (claim.measured.quantities.length + claim.measured.dates.length > 1) return undefined
  const words = new Map([...claim.weights].filter(([stem]) => !/^\p{N}/u.test(stem)))
  const near = claim.cited.flatMap((passage) => nearest(passage, words, claim.near.length)).sort((a, b) => b.share - a.share)
  const [best] = near
  if (best === undefined || best.share < SURE) return undefined
  const isFar = ({ passage, quantity: { start } }: Other): boolean => {
    const holder = near.find((other) => other.passage === passage && start >= other.window.start && start < other.window.end)
    return (holder?.share ?? 0) <= best.share - MARGIN
  }
  if (!equal.every(isFar)) return undefined
  const date = isYear(quantity)
    ? beginningIn(best.passage.measured.dates, best.window).find(({ year }) => year !== undefined)
    : undefined
  if (date !== undefined) return dated(said, { passage: best.passage, date })
  const there = all.find(
    (other) =>
      !equal.includes(other) &&
      other.quantity.start >= best.window.start &&
      other.quantity.start < best.window.end &&
      other.passage === best.passage &&
      isComparable(claim, quantity, other.passage, other.quantity),
  )
  return there === undefined ? undefined : mismatch(isYear(quantity) ? 'date' : 'number', said, there)
}

/** Most numbers and years whose sums and differences are tried; bounds the cost. */
const MOST_ADDED = 12
const SMALL_COUNT = 12

/** Recognises arithmetic, which is not an error: sums and differences of two numbers of one kind, and the years between two dates. */
function isDerived(claim: Claim, quantity: Quantity, all: readonly Other[]): boolean {
  const [value = 0] = quantity.values
  const same = all
    .flatMap(({ passage, quantity: other }) => (isComparable(claim, quantity, passage, other) ? (other.values[0] ?? []) : []))
    .slice(0, MOST_ADDED)
  const canBeAge = quantity.unit === undefined && quantity.form === 'digits' && value > SMALL_COUNT
  const years = canBeAge || quantity.unit?.name === 'year' ? yearsOf(claim).slice(0, MOST_ADDED) : []
  return (
    pairsOf(same).some(([a, b]) => Math.abs(Math.abs(a - b) - value) < 1e-9 * value || Math.abs(a + b - value) < 1e-9 * value) ||
    // A birthday may lie between the dates.
    pairsOf(years).some(([a, b]) => Math.abs(Math.abs(a - b) - value) <= 1)
  )
}

function pairsOf(numbers: readonly number[]): (readonly [number, number])[] {
  return numbers.flatMap((one, at) => numbers.slice(at + 1).map((other) => [one, other] as const))
}

function dateMismatch(claim: Claim, date: DateMention): Mismatch | undefined {
  const dates = claim.cited.flatMap((passage) => passage.measured.dates.slice(0, MOST_COMPARED))
  if (dates.some((other) => agree(date, other))) return undefined
  const said = claim.text.slice(date.start, date.end)
  const other = nearestDate(
    claim,
    (candidate) => candidate.month === date.month || (candidate.year !== undefined && candidate.year === date.year),
  )
  if (other !== undefined) return dated(said, other)
  if (date.year === undefined || yearsOf(claim).includes(date.year)) return undefined
  const year = nearestDate(claim, (candidate) => candidate.year !== undefined)
  return year === undefined ? undefined : dated(said, year)
}

interface Dated {
  readonly passage: Passage
  readonly date: DateMention
}

/** Returns the matching date in the nearest window that has one. */
function nearestDate({ near, cited }: Claim, fits: (date: DateMention) => boolean): Dated | undefined {
  const inside = ({ window, passage }: Near): Dated[] =>
    beginningIn(passage.measured.dates, window).map((date) => ({ passage, date }))
  return (
    near.flatMap(inside).find(({ date }) => fits(date)) ??
    cited
      .flatMap((passage) => passage.measured.dates.slice(0, MOST_COMPARED).map((date) => ({ passage, date })))
      .find(({ date }) => fits(date))
  )
}

function dated(said: string, { passage, date: { start, end } }: Dated): Mismatch {
  return { kind: 'date', reason: reasonFor(said, passage.text.slice(start, end)), passage, range: { start, end } }
}

function mismatch(kind: Mismatch['kind'], said: string, { passage, quantity }: Other): Mismatch {
  const range = extent(passage.text, quantity)
  return { kind, reason: reasonFor(said, shown(passage.text, quantity)), passage, range }
}
