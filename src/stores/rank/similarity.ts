/** Measures how alike two words are written. */

import { patternFor } from '../../util/pattern.ts'
import { ngrams } from '../../text/split.ts'

const SIZE = 4
const SHORTEST = 3
/** Words and nothing else: `2008` is no form of `2009`, and pairs of ideographs are too short to be compared. */
const COMPARABLE = patternFor(String.raw`^[\p{L}\p{M}]+$`, 'u')
const UNSPACED = patternFor(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'u',
)
/** Stands before the word: beginnings carry more of the meaning than ends. */
const START = '^'

/** Different groups of four characters in a term; none when it is nothing to be compared. */
export function gramsOf(term: string): string[] {
  return isComparable(term) ? [...new Set(ngrams(START + term, SIZE))] : []
}

function isComparable(term: string): boolean {
  return term.length >= SHORTEST && COMPARABLE(term).test(term) && !UNSPACED(term).test(term)
}

/** Weight of a gram that `frequency` words of a vocabulary have. */
export function gramWeight(vocabulary: number, frequency: number): number {
  return Math.log(1 + vocabulary / Math.max(frequency, 0.5)) ** 2
}

/** Grams and their weights together. */
export interface Grams {
  readonly count: number
  readonly weight: number
}

/**
 * About the cosine of a word of the query and another one by weighted grams, from what they share. Grams that only the other word has are
 * taken to weigh as much as those of the query's word do on average; their own weights would have to be looked up, for thousands of words.
 */
export function similarity(word: Grams, otherCount: number, shared: Grams): number {
  const only = Math.max(0, otherCount - shared.count)
  return shared.weight / Math.sqrt(word.weight * (shared.weight + (only * word.weight) / word.count))
}
