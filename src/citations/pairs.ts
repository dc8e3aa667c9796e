/** Numbers and names that a statement pairs otherwise than the passage: the 70 of Merv told of Nishapur. */

import { shown } from './amounts.ts'
import { isEqual } from '../text/same-amount.ts'
import { reasonFor } from './mismatch.ts'
import type { Claim, Mismatch } from './mismatch.ts'
import { quantitiesIn } from './passages.ts'
import type { Near } from './passages.ts'
import type { Quantity } from '../text/numbers.ts'
import { wordAt } from '../text/comparable-words.ts'

/** In the order of a text: the index of a name, or of a number. */
interface Item {
  readonly at: number
  readonly name?: number
  readonly number?: number
}

/** Numbers of a statement that are paired: a bound on the cost. */
const MOST_PAIRED = 8

export function pairMismatch(claim: Claim): Mismatch | undefined {
  const numbers = claim.measured.quantities
  if (numbers.length < 2 || numbers.length > MOST_PAIRED) return undefined
  const names = [...claim.weights.keys()].filter((key) =>
    /^\p{Lu}/u.test(claim.text.slice(claim.starts[claim.keys.indexOf(key)])),
  )
  for (const near of claim.near) {
    const found = otherPairs(claim, near, numbers, names)
    if (found !== undefined) return found
  }
  return undefined
}

function otherPairs(
  claim: Claim,
  { passage, window }: Near,
  numbers: readonly Quantity[],
  all: readonly string[],
): Mismatch | undefined {
  const theirs = numbers.map((own) => quantitiesIn(passage, window).filter((other) => isEqual(own, other)))
  const names = all.filter((key) => passage.places.get(key)?.some((at) => at >= window.from && at < window.to))
  if (names.length !== numbers.length || theirs.some(({ length }) => length !== 1)) return undefined
  const own = pairsOf([
    ...numbers.map(({ start }, number): Item => ({ at: wordAt(claim, start), number })),
    ...names.flatMap((key, name) => claim.keys.flatMap((each, at): Item[] => (each === key ? [{ at, name }] : []))),
  ])
  const there = pairsOf([
    ...theirs.flatMap((found, number) => found.map(({ start }): Item => ({ at: wordAt(passage, start), number }))),
    ...names.flatMap((key, name) =>
      (passage.places.get(key) ?? []).flatMap((at): Item[] => (at >= window.from && at < window.to ? [{ at, name }] : [])),
    ),
  ])
  const changed = own === undefined || there === undefined ? -1 : own.findIndex((name, number) => there[number] !== name)
  const [name, theirName] = [names[own?.[changed] ?? -1], names[there?.[changed] ?? -1]]
  const number = numbers[changed]
  if (name === undefined || theirName === undefined || number === undefined) return undefined
  const [said, place] = [claim.keys.indexOf(name), passage.places.get(theirName)?.find((at) => at >= window.from) ?? 0]
  const value = shown(claim.text, number)
  const reason = reasonFor(
    `${value}” with “${claim.text.slice(claim.starts[said], claim.ends[said])}`,
    `${value}” with “${passage.text.slice(passage.starts[place], passage.ends[place])}`,
  )
  return { kind: 'number', reason, passage, range: window }
}

/** For each number its name: always the one before it, or always the one behind it. `undefined` where both or neither can be meant. */
function pairsOf(items: readonly Item[]): readonly number[] | undefined {
  const sorted = items.toSorted((a, b) => a.at - b.at)
  const before = oneToOne(sorted, -1)
  const behind = oneToOne(sorted, 1)
  return before !== undefined && behind !== undefined ? undefined : (before ?? behind)
}

function oneToOne(items: readonly Item[], step: 1 | -1): readonly number[] | undefined {
  const pairs: number[] = []
  for (const [at, { number }] of items.entries()) {
    if (number === undefined) continue
    const name = items[at + step]?.name
    if (name === undefined || pairs.includes(name)) return undefined
    pairs[number] = name
  }
  return pairs
}
