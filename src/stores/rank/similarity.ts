/** How alike two words are written. */

import { ngrams } from '../analyze/split.ts'

const SIZE = 4
const SHORTEST = 3
/** Words and nothing else: `2008` is no form of `2009`, and pairs of ideographs are too short to be compared. */
const COMPARABLE = /^[\p{L}\p{M}]+$/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** Stands before the word: beginnings carry more of the meaning than ends. */
const START = '^'

/** Different groups of four characters in a term; none when it is nothing to be compared. */
export function gramsOf(term: string): string[] {
  if (term.length < SHORTEST || !COMPARABLE.test(term) || UNSPACED.test(term)) return []
  return [...new Set(ngrams(START + term, SIZE))]
}

/** Weight of a gram that `frequency` words of a vocabulary have. */
export function gramWeight(vocabulary: number, frequency: number): number {
  return Math.log(1 + vocabulary / Math.max(frequency, 0.5)) ** 2
}

/** Cosine of two words by weighted grams. `shared` is the weight of what they share, the others are their whole weights. */
export function cosine(shared: number, weight: number, otherWeight: number): number {
  return weight === 0 || otherWeight === 0 ? 0 : shared / Math.sqrt(weight * otherWeight)
}
