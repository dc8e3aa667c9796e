/** Scores words by BM25, and neighbouring words of the query that are neighbours in the chunk. BM25 as in S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. */

import { RANKING } from './settings.ts'

/** What there is of all chunks. */
export interface CorpusSize {
  readonly chunks: number
  /** Terms of a chunk on average, weighted by field. */
  readonly averageLength: number
}

/** Inverse document frequency; never negative. `frequency` is the number of chunks that have the word. */
export function inverseFrequency(chunks: number, frequency: number): number {
  return Math.log(1 + (chunks - Math.min(frequency, chunks) + 0.5) / (frequency + 0.5))
}

/** So many chunks tell common words from rare ones. */
const MANY_CHUNKS = 50

/**
 * What is added to the weight of every word that is asked for, because few chunks say little about how rare a word is: of one chunk a word that it has
 * would weigh a fifth of one that it does not have. Falls from 3.3 with one chunk to .4 with a hundred and nothing with many.
 */
export function unknownFrequency(chunks: number): number {
  return Math.log(1 + MANY_CHUNKS / (chunks + 1))
}

/** What `count` occurrences in a chunk of `length` terms are worth: from 0 to `saturation + 1`, 1 for one occurrence at average length. */
export function occurrenceWeight(count: number, length: number, averageLength: number): number {
  const { saturation, lengthPenalty } = RANKING
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthPenalty + (lengthPenalty * length) / averageLength))
}

/** Pairs of different words that follow each other in a query, each pair once. */
export function pairsOf(terms: readonly number[]): [number, number][] {
  const pairs = new Map<string, [number, number]>()
  terms.forEach((second, at) => {
    const first = terms[at - 1]
    if (first !== undefined && first !== second) pairs.set(`${first} ${second}`, [first, second])
  })
  return [...pairs.values()]
}

/** How often each pair stands in a sequence of terms, in the order of the pairs. */
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
