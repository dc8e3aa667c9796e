/** Finds chunks about the same thing as a given chunk. */

import { best } from '../rank/blend.ts'
import type { Neighbour, Scored } from '../rank/blend.ts'
import { inverseFrequency, occurrenceWeight, RANKING } from '../rank/score.ts'
import { countTerms } from './facts.ts'
import type { Corpus } from './facts.ts'
import type { ListPart } from './inverted.ts'
import type { Postings } from './postings.ts'
import { termsById } from './query-words.ts'
import type { IndexReader, Term } from './query-words.ts'

/** Returns for each candidate the chunks that share its rare words, with BM25 scores relative to the candidate's own. */
export function similarChunks(
  index: IndexReader,
  keys: Scored['keys'],
  candidates: readonly number[],
): Map<number, readonly Neighbour[]> {
  const { corpus, postings, list, sequences } = index
  const { neighbours: limit, maxFrequency } = RANKING.neighbours
  sequences.load(candidates)
  const counts = candidates.map((id) => countTerms(sequences.of(id)))
  const rare = new Set(counts.flatMap((count) => [...count.keys()]).filter((id) => (corpus.frequencies[id] ?? 0) <= maxFrequency))
  const terms = new Map(termsById(index, [...rare]).map((term) => [term.id, term]))
  const words = candidates.map((id, at) =>
    rarestWords(corpus, corpus.lengths[id] ?? 1, counts[at] ?? new Map<number, number>(), terms),
  )
  // A word that only the candidate itself has finds no other chunk.
  const shared = words.flat().filter(({ term }) => term.frequency > 1)
  list.clear()
  const ranges = postings.read([...new Set(shared.map(({ term }) => term.id))], list)
  const similarity = new Float64Array(corpus.lengths.length)
  return new Map(
    candidates.map((candidate, at) => {
      const touched: number[] = []
      let self = 0
      for (const { term, weight } of words[at] ?? []) {
        self += weight * weight
        const range = ranges.get(term.id)
        if (range === undefined) continue
        addSimilarity(corpus, similarity, weight * inverseFrequency(corpus.chunks, term.frequency), list, range, touched)
      }
      similarity[candidate] = 0
      const found = best({ scores: similarity, keys }, limit, touched).map((id) => ({
        id,
        similarity: (similarity[id] ?? 0) / self,
      }))
      for (const id of touched) similarity[id] = 0
      return [candidate, found]
    }),
  )
}

/** Adds the weight of a word to the chunks in its part of the list. Separate, so that the engine optimises this loop early. */
function addSimilarity(
  { lengths, averageLength }: Corpus,
  similarity: Float64Array,
  weight: number,
  { ids, counts }: Postings,
  { from, to }: ListPart,
  touched: number[],
): void {
  for (let at = from; at < to; at++) {
    const id = ids[at] ?? 0
    const length = lengths[id] ?? 0
    if (length === 0) continue
    const known = similarity[id] ?? 0
    if (known === 0) touched.push(id)
    similarity[id] = known + weight * occurrenceWeight(counts[at] ?? 0, length, averageLength)
  }
}

interface WeightedTerm {
  readonly term: Term
  readonly weight: number
}

function rarestWords(
  corpus: Corpus,
  length: number,
  counts: ReadonlyMap<number, number>,
  terms: ReadonlyMap<number, Term>,
): WeightedTerm[] {
  const { words } = RANKING.neighbours
  const weighted: WeightedTerm[] = []
  for (const [id, count] of counts) {
    const term = terms.get(id)
    if (term === undefined) continue
    const weight = inverseFrequency(corpus.chunks, term.frequency) * occurrenceWeight(count, length, corpus.averageLength)
    weighted.push({ term, weight })
  }
  return weighted.sort((a, b) => b.weight - a.weight || (a.term.term < b.term.term ? -1 : 1)).slice(0, words)
}
