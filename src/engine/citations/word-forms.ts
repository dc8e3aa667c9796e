/** Whether words are forms of one word, as far as their spelling shows: `drops` and `dropped`, `Mühle` and `Mühlen`. */

import { headOf } from './comparison.ts'
import { isNumber, isSingle } from './tokens.ts'

/** Letters that two forms begin with alike. Forms that share fewer would never meet: bags are ordered by as many (`headOf`). */
const SHORTEST_STEM = 4
/** Share of the longer form that is stem. The made citations do not settle it: from 0 to 1 the scores are the same. */
const STEM_SHARE = 0.65
/** Letters that the longer form may have beyond the stem (`-ungen`, `-ments`). Nor this: from 2 to 20 the scores are the same. */
const LONGEST_ENDING = 5
/** Endings that may stand in for each other however little of the word is stem: `drops`, `dropped`. */
const INFLECTION = /^(?:s|es|d|[bdgklmnprt]?(?:e|ed|ing|en))?$/

export function areFormsOfOneWord(a: string, b: string): boolean {
  if (a === b) return true
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < SHORTEST_STEM || isNumber(a) || isSingle(a)) return false
  let stem = 0
  while (stem < short.length && short[stem] === long[stem]) stem++
  if (stem < SHORTEST_STEM) return false
  if (stem >= STEM_SHARE * long.length && long.length - stem <= LONGEST_ENDING) return true
  return INFLECTION.test(short.slice(stem)) && INFLECTION.test(long.slice(stem))
}

/** Different words, by what they begin with (`headOf`): a word is compared only with those that may be forms of it. */
export type Bag = ReadonlyMap<string, readonly string[]>

export function bagOf(words: readonly string[]): Bag {
  const bag = new Map<string, string[]>()
  for (const word of words) {
    const head = headOf(word)
    const list = bag.get(head)
    if (list === undefined) bag.set(head, [word])
    else if (!list.includes(word)) list.push(word)
  }
  return bag
}

export function bagHasFormOf(bag: Bag, word: string): boolean {
  const list = bag.get(headOf(word)) ?? []
  if (list.some((other) => areFormsOfOneWord(word, other))) return true
  // `rye`, `ryes`: too short a stem, and the plural begins otherwise.
  return word.length === 3 && (bag.get(`${word}s`) ?? []).includes(`${word}s`)
}
