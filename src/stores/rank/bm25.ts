/** Scores words by BM25 (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), and adjacent words. */

import { RANKING } from './settings.ts'

/** Totals over all chunks. */
export interface CorpusSize {
  readonly chunks: number
  /** Average number of terms in a chunk, weighted by field. */
  readonly averageLength: number
}

/** Returns the inverse document frequency, never negative. `frequency` is the number of chunks with the word. */
export function inverseFrequency(chunks: number, frequency: number): number {
  return Math.log(1 + (chunks - Math.min(frequency, chunks) + 0.5) / (frequency + 0.5))
}

/** With so many chunks, common words can be distinguished from rare ones. */
const MANY_CHUNKS = 50

/**
 * Returns the constant added to the weight of every query word, because few chunks say little about how rare a word is: in a single chunk, a word
 * it has would weigh a fifth of a word it lacks. Falls from 3.3 with one chunk to .4 with a hundred and 0 with many.
 */
export function unknownFrequency(chunks: number): number {
  return Math.log(1 + MANY_CHUNKS / (chunks + 1))
}

/** Returns the BM25 factor of `count` occurrences in a chunk of `length` terms: 0 to `saturation + 1`, 1 for one occurrence at average length. */
export function occurrenceWeight(count: number, length: number, averageLength: number): number {
  const { saturation, lengthPenalty } = RANKING
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthPenalty + (lengthPenalty * length) / averageLength))
}

/** Returns the pairs of different words that are adjacent in a query, each pair once. */
export function pairsOf(terms: readonly number[]): [number, number][] {
  const pairs = new Map<string, [number, number]>()
  terms.forEach((second, at) => {
    const first = terms[at - 1]
    if (first !== undefined && first !== second) pairs.set(`${first} ${second}`, [first, second])
  })
  return [...pairs.values()]
}

/** Counts how often each pair is adjacent in a sequence of terms, in the order of the pairs. */
export function countPairs(sequence: readonly number[], pairs: readonly (readonly [number, number])[]): number[] {
  const counts = pairs.map(() => 0)
  const byFirst = new Map<number, number[]>()
  pairs.forEach(([first], at) => {
    const known = byFirst.get(first)
    if (known === undefined) byFirst.set(first, [at])
    else known.push(at)
  })
  sequence.forEach((term, at) => {
    for (const pair of byFirst.get(term) ?? []) if (pairs[pair]?.[1] === sequence[at + 1]) counts[pair] = (counts[pair] ?? 0) + 1
  })
  return counts
}
