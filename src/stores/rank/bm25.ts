/** BM25 as in S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. */

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

/** What `count` occurrences in a chunk of `length` terms are worth: from 0 to `saturation + 1`, 1 for one occurrence at average length. */
export function occurrenceWeight(count: number, length: number, averageLength: number): number {
  const { saturation, lengthPenalty } = RANKING
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthPenalty + (lengthPenalty * length) / averageLength))
}
