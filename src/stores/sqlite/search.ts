/** Finds the best chunks for a query. `docs/retrieval.md` explains the steps and the effect of each. */

import { Analyzer } from '../../text/analyzer.ts'
import type { ChunkFilter, Evidence, ScoredChunk } from '../../core/store.ts'
import { best, smooth } from '../rank/blend.ts'
import type { Scored } from '../rank/blend.ts'
import { countPairs, occurrenceWeight, pairsOf, RANKING, unknownFrequency } from '../rank/score.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { bestAccepted } from './accepted.ts'
import { toChunk } from './documents.ts'
import type { ChunkRow } from './documents.ts'
import { countTerms, readCorpus, Sequences } from './facts.ts'
import type { Corpus } from './facts.ts'
import { InvertedIndex } from './inverted.ts'
import type { ListPart } from './inverted.ts'
import type { WordResult } from './nearest.ts'
import { Postings } from './postings.ts'
import { parseQuery, WORD } from './query-words.ts'
import type { IndexReader, ParsedQuery, QueryWord } from './query-words.ts'
import { similarChunks } from './similar-chunks.ts'
import { chunkRows } from './sources.ts'

export class Searcher {
  readonly #connection: Connection
  readonly #analyzer = new Analyzer()
  readonly #list = new Postings()
  #corpus: Corpus | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns false for a query of only punctuation and function words, which finds nothing. */
  hasWords(query: string): boolean {
    return this.#analyzer.terms(query).length > 0
  }

  /** Call it inside a snapshot. @param joined combines the scores of vectors with those of words. */
  search(
    query: string,
    limit: number,
    filter: ChunkFilter | undefined,
    joined?: (corpus: Corpus, found: WordResult) => Scored | undefined,
  ): ScoredChunk[] {
    const connection = this.#connection
    const corpus = (this.#corpus = readCorpus(connection, this.#corpus))
    if (limit <= 0 || corpus.chunks === 0) return []
    const sequences = new Sequences(connection)
    const index: IndexReader = {
      connection,
      corpus,
      postings: new InvertedIndex(connection, 'postings'),
      grams: new InvertedIndex(connection, 'grams'),
      sequences,
      list: this.#list,
    }
    const parsed = parseQuery(index, this.#analyzer, query)
    if (parsed.words.length === 0) return []

    const scored = scoreWords(index, parsed.words)
    const bestOf = bestAccepted(connection, filter, scored)
    // The next steps only add to scores: a chunk outside the best can now only enter as a neighbour.
    const { phrases, neighbours } = RANKING
    const first = bestOf(Math.max(limit, phrases.candidates, neighbours.candidates))
    addPhrases(index, parsed, scored, first.slice(0, phrases.candidates))
    const smoothed = smoothScores(index, scored, best(scored, neighbours.candidates, first))

    const evidence = evidenceFor(parsed.words, corpus.chunks)
    const evidenceOf = (id: number): Evidence => evidence(countTerms(sequences.of(id)))
    const found = bestOf(limit, [...new Set([...first, ...smoothed])])
    const both = joined?.(corpus, {
      scored,
      // Independent of the limit, so that a longer list begins with the shorter one.
      ids: bestOf(Math.max(limit, RANKING.vectors.words)),
      coverage: found[0] === undefined ? 0 : evidenceOf(found[0]).coverage,
    })
    const { scores } = both ?? scored
    const ids = both === undefined ? found : bestAccepted(connection, filter, both)(limit)
    sequences.load(ids)
    const byId = new Map(chunkRows(connection, ids).map((row) => [row.id, row]))
    const rows = ids.flatMap((id) => byId.get(id) ?? [])
    const corrections = this.#correctedWords(query, parsed, rows)
    return rows.map((row) => ({
      ...toChunk(row),
      score: scores[row.id] ?? 0,
      evidence: { ...evidenceOf(row.id), ...corrections },
    }))
  }

  /** Returns corrections as readable words: a word of the query, and a word of the chunks that were found. */
  #correctedWords(query: string, { corrections }: ParsedQuery, rows: readonly ChunkRow[]): Pick<Evidence, 'corrections'> {
    if (corrections.size === 0) return {}
    const termOf = (word: string): string | undefined => {
      const terms = this.#analyzer.terms(word)
      return terms.length === 1 ? terms[0] : undefined
    }
    const corrected: Record<string, string> = {}
    for (const [word] of query.matchAll(WORD)) {
      const meant = corrections.get(termOf(word) ?? '')
      const spelled = meant === undefined ? undefined : firstWord(rows, (candidate) => termOf(candidate) === meant)
      if (spelled !== undefined) corrected[word] = spelled.toLowerCase()
    }
    return { corrections: corrected }
  }
}

function scoreWords({ corpus, postings, list }: IndexReader, words: readonly QueryWord[]): Scored {
  const scores = new Float64Array(corpus.lengths.length)
  const counts = new Float64Array(scores.length)
  const touched = new Int32Array(scores.length)
  list.clear()
  const terms = new Set(words.flatMap(({ variants }) => variants.map(({ id }) => id)))
  const ranges = postings.read([...terms], list)
  for (const { count, weight, variants } of words) {
    let size = 0
    for (const { id: term, share } of variants) {
      const range = ranges.get(term)
      if (range !== undefined) size = addCounts(list, range, share, counts, touched, size)
    }
    addScores(corpus, scores, count * weight, counts, touched.subarray(0, size))
  }
  return { scores, keys: corpus.keys }
}

function addPhrases(
  { corpus, sequences }: IndexReader,
  query: ParsedQuery,
  { scores }: Scored,
  candidates: readonly number[],
): void {
  const known = new Map(
    query.words.flatMap(({ variants: [own], weight }) => (own?.similarity === 1 ? [[own.id, weight] as const] : [])),
  )
  const pairs = pairsOf(query.sequence.filter((id) => known.has(id)))
  if (pairs.length === 0) return
  sequences.load(candidates)
  for (const id of candidates) {
    const length = corpus.lengths[id] ?? 0
    let bonus = 0
    countPairs(sequences.of(id), pairs).forEach((count, at) => {
      const [first = 0, second = 0] = pairs[at] ?? []
      if (count === 0) return
      const weight = Math.min(known.get(first) ?? 0, known.get(second) ?? 0)
      bonus += weight * occurrenceWeight(count, length, corpus.averageLength)
    })
    scores[id] = (scores[id] ?? 0) + RANKING.phrases.share * bonus
  }
}

/** Smooths scores; returns the chunks whose scores changed. */
function smoothScores(index: IndexReader, { scores, keys }: Scored, candidates: readonly number[]): Iterable<number> {
  const neighbours = similarChunks(index, keys, candidates)
  const smoothed = smooth(neighbours, (id) => scores[id] ?? 0, index.corpus.chunks)
  for (const [id, score] of smoothed) scores[id] = score
  return smoothed.keys()
}

function firstWord(rows: readonly ChunkRow[], isIt: (word: string) => boolean): string | undefined {
  for (const { text, details } of rows) {
    for (const [word] of `${text} ${details}`.matchAll(WORD)) if (isIt(word)) return word
  }
  return undefined
}

/**
 * Adds a share of the counts in a part of a list to those of its chunks. Appends the chunks without a count so far to `touched` after the first
 * `size`, and returns the new size. The loops are separate functions so that they are compiled after the first word, not after the last.
 */
function addCounts(
  { ids, counts: added }: Postings,
  { from, to }: ListPart,
  share: number,
  counts: Float64Array,
  touched: Int32Array,
  size: number,
): number {
  let noted = size
  for (let at = from; at < to; at++) {
    const id = ids[at] ?? 0
    const count = counts[id] ?? 0
    if (count === 0) touched[noted++] = id
    counts[id] = count + share * (added[at] ?? 0)
  }
  return noted
}

/** Adds the weighted counts of the chunks to their scores, and resets the counts to 0. */
function addScores(corpus: Corpus, scores: Float64Array, weight: number, counts: Float64Array, touched: Int32Array): void {
  const { lengths, averageLength } = corpus
  for (let at = 0; at < touched.length; at++) {
    const id = touched[at] ?? 0
    const length = lengths[id] ?? 0
    if (length > 0) scores[id] = (scores[id] ?? 0) + weight * occurrenceWeight(counts[id] ?? 0, length, averageLength)
    counts[id] = 0
  }
}

/** Computes the share of the query's weight that a chunk has; a variant counts by its similarity to the word. */
function evidenceFor(queried: readonly QueryWord[], chunks: number): (counts: ReadonlyMap<number, number>) => Evidence {
  const words = queried.map((word) => ({ ...word, weight: word.weight + unknownFrequency(chunks) }))
  // Both terms of a corrected word: without a passage that shows the correction, the question keeps its own word.
  const weights = Object.fromEntries(
    words.flatMap(({ asked, term, weight }) => [[asked, weight] as const, [term, weight] as const]),
  )
  const whole = words.reduce((sum, { weight }) => sum + weight, 0)
  return (counts) => {
    let found = 0
    for (const { weight, variants } of words) {
      found += weight * variants.reduce((most, { id, similarity }) => (counts.has(id) ? Math.max(most, similarity) : most), 0)
    }
    return { coverage: whole === 0 ? 0 : found / whole, weights }
  }
}
