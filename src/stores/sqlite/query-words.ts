/** Makes a query's words out of its text: which terms of the vocabulary stand for each, and how much it weighs. */

import { isFragment } from '../../text/analyzer.ts'
import type { Analyzer } from '../../text/analyzer.ts'
import { inverseFrequency } from '../rank/bm25.ts'
import { RANKING } from '../rank/settings.ts'
import { gramsOf, gramWeight, similarity } from '../rank/similarity.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { nearestTerm } from './spelling.ts'
import type { Corpus } from './corpus.ts'
import type { InvertedIndex } from './inverted.ts'
import { Postings } from './postings.ts'

/** More different words than this are not looked up, the weightiest are. */
const MAX_WORDS = 256
/** Groups that a fragment stands for. */
const MAX_GROUPS = 64
/** Unknown words that are compared with the vocabulary: a question seldom has more slips. */
const MOST_CORRECTED = 8
const WORD = /[\p{L}\p{M}]+/gu
const LAST_CHARACTER = '\u{10ffff}'

export interface Term {
  readonly id: number
  readonly term: string
  readonly frequency: number
}

/** A term that counts as the word, at a share of its occurrences. */
export interface Variant {
  readonly id: number
  readonly share: number
  /** How alike it is written, 1 for the word itself. */
  readonly similarity: number
}

export interface QueryWord {
  readonly term: string
  /** How often the query says it. */
  readonly count: number
  /** Inverse document frequency of the word and its variants together. */
  readonly weight: number
  /** The word itself first, where any chunk has it. */
  readonly variants: readonly Variant[]
}

export interface ParsedQuery {
  readonly words: readonly QueryWord[]
  /** Ids of the words in their order, 0 for one that no chunk has. */
  readonly sequence: readonly number[]
  /** Terms that no chunk has, and the terms that were searched for instead. */
  readonly corrections: ReadonlyMap<string, string>
}

interface Counted {
  readonly term: string
  readonly count: number
  readonly known: Term | undefined
  readonly weight: number
}

export function parseQuery(
  connection: Connection,
  grams: InvertedIndex,
  analyzer: Analyzer,
  query: string,
  corpus: Corpus,
): ParsedQuery {
  const { chunks } = corpus
  const terms = analyzer.terms(query)
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  const known = termsByName(connection, corpus, [...counts.keys()])
  const corrections = new Map<string, string>()
  const tried = new Set<string>()
  for (const [word] of query.matchAll(WORD)) {
    if (tried.size >= MOST_CORRECTED) break
    const [term, ...more] = analyzer.terms(word)
    if (term === undefined || more.length > 0 || known.has(term) || tried.has(term)) continue
    tried.add(term)
    const meant = nearestTerm(word, term, (first, least, most) => termsLike(connection, corpus, first, least, most))
    if (meant === undefined) continue
    known.set(term, meant)
    corrections.set(term, meant.term)
  }
  const counted: Counted[] = Array.from(counts, ([term, count]) => {
    const found = known.get(term)
    return { term, count, known: found, weight: inverseFrequency(chunks, found?.frequency ?? 0) }
  })
  const weightiest = counted.toSorted((a, b) => b.count * b.weight - a.count * a.weight || (a.term < b.term ? -1 : 1))
  // Words that no chunk has are the weightiest, and must not crowd out those that can be found.
  const findable = weightiest.filter((word) => word.known !== undefined)
  const chosen = new Set([...findable, ...weightiest].slice(0, MAX_WORDS))
  const varied = new Set(weightiest.slice(0, RANKING.variants.words))
  const variants = new Variants(connection, grams, corpus)
  const words = counted
    .filter((word) => chosen.has(word))
    .map((word) => toQueryWord(word, varied.has(word) ? variants.of(word) : [], chunks))
  return { words, sequence: terms.map((term) => known.get(term)?.id ?? 0), corrections }
}

function toQueryWord({ term, count, known }: Counted, similar: readonly Similar[], chunks: number): QueryWord {
  const { share } = RANKING.variants
  let frequency = known?.frequency ?? 0
  for (const variant of similar) frequency += share * variant.similarity * variant.term.frequency
  const variants: Variant[] = similar.map((variant) => ({
    id: variant.term.id,
    similarity: variant.similarity,
    share: share * variant.similarity,
  }))
  if (known !== undefined) variants.unshift({ id: known.id, similarity: 1, share: 1 })
  return { term: known?.term ?? term, count, weight: inverseFrequency(chunks, frequency), variants }
}

interface Similar {
  readonly term: Term
  readonly similarity: number
}

/** Finds terms of the vocabulary that are written like a word. */
class Variants {
  readonly #connection: Connection
  readonly #index: InvertedIndex
  readonly #corpus: Corpus
  readonly #list = new Postings()
  /** By term: weight and number of the grams shared with the word at hand. */
  readonly #weights: Float64Array
  readonly #counts: Uint8Array

  constructor(connection: Connection, index: InvertedIndex, corpus: Corpus) {
    this.#connection = connection
    this.#index = index
    this.#corpus = corpus
    const size = corpus.frequencies.length
    this.#weights = new Float64Array(size)
    this.#counts = new Uint8Array(size)
  }

  /** The most alike first. */
  of({ term, known }: Counted): Similar[] {
    if (isFragment(term)) return this.#groupsWith(term)
    const grams = gramsOf(known?.term ?? term)
    if (grams.length === 0) return []
    const { floor, unknownFloor, limit, mostFrequent } = RANKING.variants
    const least = known === undefined ? unknownFloor : floor
    const sizes = new Map<number, number>()
    const word = { count: grams.length, weight: this.#share(grams, sizes) }
    const alike = new Map<number, number>()
    for (const [id, count] of sizes) {
      const found = similarity(word, count, { count: this.#counts[id] ?? 0, weight: this.#weights[id] ?? 0 })
      if (found >= least && id !== known?.id) alike.set(id, found)
      this.#counts[id] = 0
      this.#weights[id] = 0
    }
    // Only English is stemmed: of other scripts every inflection is a term of its own, and the query may have a rare one.
    const most = known === undefined || /[^\0-\x7f]/.test(term) ? Number.POSITIVE_INFINITY : mostFrequent * known.frequency
    return termsById(this.#connection, this.#corpus, [...alike.keys()])
      .filter(({ frequency }) => frequency <= most)
      .map((found) => ({ term: found, similarity: alike.get(found.id) ?? 0 }))
      .sort((a, b) => b.similarity - a.similarity || (a.term.term < b.term.term ? -1 : 1))
      .slice(0, limit)
  }

  /** Groups of characters that begin with a fragment: all that have it but those at the end of a run. */
  #groupsWith(fragment: string): Similar[] {
    const terms = this.#connection.all<Named>('SELECT id, term FROM terms WHERE term > ? AND term < ?', [
      fragment,
      fragment + LAST_CHARACTER,
    ])
    return withFrequencies(this.#corpus, terms)
      .sort((a, b) => b.frequency - a.frequency || (a.term < b.term ? -1 : 1))
      .slice(0, MAX_GROUPS)
      .map((term) => ({ term, similarity: 1 }))
  }

  /** Adds up what each term shares; notes in `sizes` how many grams it has. Returns the weight of all grams. */
  #share(grams: readonly string[], sizes: Map<number, number>): number {
    const list = this.#list
    let whole = 0
    for (const gram of grams) {
      list.clear()
      this.#index.read(gram, list)
      const { frequencies, terms } = this.#corpus
      let alive = 0
      for (let at = 0; at < list.size; at++) if ((frequencies[list.ids[at] ?? 0] ?? 0) > 0) alive++
      const weight = gramWeight(terms, alive)
      whole += weight
      for (let at = 0; at < list.size; at++) {
        const id = list.ids[at] ?? 0
        if ((frequencies[id] ?? 0) === 0) continue
        if (this.#counts[id] === 0) sizes.set(id, list.counts[at] ?? 1)
        this.#counts[id] = (this.#counts[id] ?? 0) + 1
        this.#weights[id] = (this.#weights[id] ?? 0) + weight
      }
    }
    return whole
  }
}

interface Named {
  readonly id: number
  readonly term: string
}

/** Leaves out terms that no chunk has any more. */
function withFrequencies({ frequencies }: Corpus, terms: readonly Named[]): Term[] {
  return terms.flatMap(({ id, term }) => {
    const frequency = frequencies[id] ?? 0
    return frequency === 0 ? [] : { id, term, frequency }
  })
}

function termsByName(connection: Connection, corpus: Corpus, names: readonly string[]): Map<string, Term> {
  const rows = connection.all<Named>('SELECT id, term FROM terms WHERE term IN (SELECT value FROM json_each(?))', [
    JSON.stringify(names),
  ])
  return new Map(withFrequencies(corpus, rows).map((row) => [row.term, row]))
}

/** Terms that begin with a letter and are so many letters long. */
function termsLike(connection: Connection, corpus: Corpus, first: string, least: number, most: number): Term[] {
  const rows = connection.all<Named>('SELECT id, term FROM terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?', [
    first,
    first + LAST_CHARACTER,
    least,
    most,
  ])
  return withFrequencies(corpus, rows)
}

export function termsById(connection: Connection, corpus: Corpus, ids: readonly number[]): Term[] {
  const rows = connection.all<Named>('SELECT id, term FROM terms WHERE id IN (SELECT value FROM json_each(?))', [
    JSON.stringify(ids),
  ])
  return withFrequencies(corpus, rows)
}
