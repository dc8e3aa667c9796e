/** Measures how similarly two words are spelt. */

import { patternFor } from '../../util/pattern.ts'
import { ngrams } from '../../text/split.ts'

const SIZE = 4
const SHORTEST = 3
/** Letters only: `2008` is not a form of `2009`, and pairs of ideographs are too short to compare. */
const COMPARABLE = patternFor(String.raw`^[\p{L}\p{M}]+$`, 'u')
const UNSPACED = patternFor(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'u',
)
/** Marks the start of the word: beginnings carry more of the meaning than ends. */
const START = '^'

/** Returns the distinct groups of four characters in a term; none when it cannot be compared. */
export function gramsOf(term: string): string[] {
  return isComparable(term) ? [...new Set(ngrams(START + term, SIZE))] : []
}

function isComparable(term: string): boolean {
  return term.length >= SHORTEST && COMPARABLE(term).test(term) && !UNSPACED(term).test(term)
}

/** Returns the weight of a gram that `frequency` words of a vocabulary have. */
export function gramWeight(vocabulary: number, frequency: number): number {
  return Math.log(1 + vocabulary / Math.max(frequency, 0.5)) ** 2
}

/** A number of grams and their total weight. */
export interface Grams {
  readonly count: number
  readonly weight: number
}

/**
 * Approximates the cosine of a query word and another word by weighted grams, from the shared ones. Grams of the other word alone get the average
 * weight of the query word's grams; looking up their own weights, for thousands of words, would cost too much.
 */
export function similarity(word: Grams, otherCount: number, shared: Grams): number {
  const only = Math.max(0, otherCount - shared.count)
  return shared.weight / Math.sqrt(word.weight * (shared.weight + (only * word.weight) / word.count))
}
