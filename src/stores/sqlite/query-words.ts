/** Parses a query into words: the vocabulary terms that match each word, and its weight. */

import { isFragment } from '../../text/analyzer.ts'
import type { Analyzer } from '../../text/analyzer.ts'
import { inverseFrequency, RANKING } from '../rank/score.ts'
import { gramsOf, gramWeight, nearestTerm, similarity } from '../rank/spelling.ts'
import type { Corpus, Sequences } from './facts.ts'
import type { InvertedIndex } from './inverted.ts'
import type { Postings } from './postings.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

/** Most distinct words that are looked up; of more, those with the highest weights. */
const MAX_WORDS = 256
/** Most groups of characters that a fragment matches. */
const MAX_GROUPS = 64
/** Most unknown words compared with the vocabulary: a question seldom has more misspellings. */
const MOST_CORRECTED = 8
export const WORD: RegExp = /[\p{L}\p{M}]+/gu
const LAST_CHARACTER = '\u{10ffff}'

/** The index as seen by one search. */
export interface IndexReader {
  readonly connection: Connection
  readonly corpus: Corpus
  /** The chunks of each term, and the terms of each group of characters. */
  readonly postings: InvertedIndex
  readonly grams: InvertedIndex
  readonly sequences: Sequences
  /** Buffer for lists, reused between searches so that it need not grow again. */
  readonly list: Postings
}

export interface Term {
  readonly id: number
  readonly term: string
  readonly frequency: number
}

/** A term that counts as the word, at a share of its occurrences. */
export interface Variant {
  readonly id: number
  readonly share: number
  /** Similarity of the spelling, 1 for the word itself. */
  readonly similarity: number
}

export interface QueryWord {
  /** The term in the query. */
  readonly asked: string
  /** The term searched for; it differs for a corrected word. */
  readonly term: string
  /** Occurrences in the query. */
  readonly count: number
  /** Inverse document frequency of the word and its variants together. */
  readonly weight: number
  /** Starts with the word itself, if any chunk has it. */
  readonly variants: readonly Variant[]
}

export interface ParsedQuery {
  readonly words: readonly QueryWord[]
  /** Ids of the words in query order, 0 for a word that no chunk has. */
  readonly sequence: readonly number[]
  /** Terms that no chunk has, and the terms searched for instead. */
  readonly corrections: ReadonlyMap<string, string>
}

interface Counted {
  readonly term: string
  readonly count: number
  readonly known: Term | undefined
  readonly weight: number
}

export function parseQuery(index: IndexReader, analyzer: Analyzer, query: string): ParsedQuery {
  const { chunks } = index.corpus
  const terms = analyzer.terms(query)
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  const named = selectTerms(index, 'term IN (SELECT value FROM json_each(?))', JSON.stringify([...counts.keys()]))
  const known = new Map(named.map((term) => [term.term, term]))
  const corrections = new Map<string, string>()
  const tried = new Set<string>()
  for (const [word] of query.matchAll(WORD)) {
    if (tried.size >= MOST_CORRECTED) break
    const [term, ...more] = analyzer.terms(word)
    if (term === undefined || more.length > 0 || known.has(term) || tried.has(term)) continue
    tried.add(term)
    const meant = nearestTerm(word, term, (first, least, most) =>
      selectTerms(index, 'term >= ? AND term < ? AND length(term) BETWEEN ? AND ?', first, first + LAST_CHARACTER, least, most),
    )
    if (meant === undefined) continue
    known.set(term, meant)
    corrections.set(term, meant.term)
  }
  const counted: Counted[] = Array.from(counts, ([term, count]) => {
    const found = known.get(term)
    return { term, count, known: found, weight: inverseFrequency(chunks, found?.frequency ?? 0) }
  })
  const weightiest = counted.toSorted((a, b) => b.count * b.weight - a.count * a.weight || (a.term < b.term ? -1 : 1))
  // Unknown words have the highest weights, and must not crowd out words that can be found.
  const findable = weightiest.filter((word) => word.known !== undefined)
  const chosen = new Set([...findable, ...weightiest].slice(0, MAX_WORDS))
  const varied = new Set(weightiest.slice(0, RANKING.variants.words))
  const words = counted
    .filter((word) => chosen.has(word))
    .map((word) => toQueryWord(word, varied.has(word) ? similarTerms(index, word) : [], chunks))
  return { words, sequence: terms.map((term) => known.get(term)?.id ?? 0), corrections }
}

function toQueryWord({ term, count, known }: Counted, similar: readonly Similar[], chunks: number): QueryWord {
  const { share } = RANKING.variants
  let frequency = known?.frequency ?? 0
  for (const variant of similar) frequency += share * variant.similarity * variant.frequency
  const variants: Variant[] = similar.map(({ id, similarity }) => ({ id, similarity, share: share * similarity }))
  if (known !== undefined) variants.unshift({ id: known.id, similarity: 1, share: 1 })
  return { asked: term, term: known?.term ?? term, count, weight: inverseFrequency(chunks, frequency), variants }
}

interface Similar extends Term {
  readonly similarity: number
}

/** Returns vocabulary terms spelt like a word, the most similar first. */
function similarTerms(index: IndexReader, { term, known }: Counted): Similar[] {
  if (isFragment(term)) return groupsWith(index, term)
  const grams = gramsOf(known?.term ?? term)
  if (grams.length === 0) return []
  const { floor, unknownFloor, limit, mostFrequent } = RANKING.variants
  const least = known === undefined ? unknownFloor : floor
  const { weight, terms } = sharedGrams(index, grams)
  const alike = new Map<number, number>()
  for (const [id, shared] of terms) {
    const found = similarity({ count: grams.length, weight }, shared.grams, shared)
    if (found >= least && id !== known?.id) alike.set(id, found)
  }
  // Only English is stemmed: in other scripts each inflection is a term of its own, and the query may have a rare one.
  const most = known === undefined || /[^\0-\x7f]/.test(term) ? Number.POSITIVE_INFINITY : mostFrequent * known.frequency
  return termsById(index, [...alike.keys()])
    .filter(({ frequency }) => frequency <= most)
    .map((found) => ({ ...found, similarity: alike.get(found.id) ?? 0 }))
    .sort((a, b) => b.similarity - a.similarity || (a.term < b.term ? -1 : 1))
    .slice(0, limit)
}

/** Returns the groups of characters that begin with a fragment: every group with it, except those at the end of a run. */
function groupsWith(index: IndexReader, fragment: string): Similar[] {
  return selectTerms(index, 'term > ? AND term < ?', fragment, fragment + LAST_CHARACTER)
    .sort((a, b) => b.frequency - a.frequency || (a.term < b.term ? -1 : 1))
    .slice(0, MAX_GROUPS)
    .map((term) => ({ ...term, similarity: 1 }))
}

/** The shared part of a word's grams, and the number of grams of the term. */
interface Shared {
  count: number
  weight: number
  readonly grams: number
}

/** Returns the weight of all grams of a word, and the terms that share some of them. */
function sharedGrams(
  { corpus, grams: index, list }: IndexReader,
  grams: readonly string[],
): { weight: number; terms: Map<number, Shared> } {
  const { frequencies } = corpus
  list.clear()
  const ranges = index.read(grams, list)
  const terms = new Map<number, Shared>()
  let whole = 0
  for (const gram of grams) {
    const { from, to } = ranges.get(gram) ?? { from: 0, to: 0 }
    let alive = 0
    for (let at = from; at < to; at++) if ((frequencies[list.ids[at] ?? 0] ?? 0) > 0) alive++
    const weight = gramWeight(corpus.terms, alive)
    whole += weight
    for (let at = from; at < to; at++) {
      const id = list.ids[at] ?? 0
      if ((frequencies[id] ?? 0) === 0) continue
      const shared = terms.get(id)
      if (shared === undefined) {
        terms.set(id, { count: 1, weight, grams: list.counts[at] ?? 1 })
      } else {
        shared.count++
        shared.weight += weight
      }
    }
  }
  return { weight: whole, terms }
}

/** Selects terms, without those that no chunk has any more. */
function selectTerms({ connection, corpus }: IndexReader, where: string, ...values: readonly (string | number)[]): Term[] {
  const rows = connection.all<{ id: number; term: string }>(`SELECT id, term FROM terms WHERE ${where}`, values)
  return rows.flatMap(({ id, term }) => {
    const frequency = corpus.frequencies[id] ?? 0
    return frequency === 0 ? [] : { id, term, frequency }
  })
}

export function termsById(index: IndexReader, ids: readonly number[]): Term[] {
  return selectTerms(index, 'id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
}
