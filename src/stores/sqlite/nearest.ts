/** Combines the scores of words with those of vectors. Loaded only for stores with vectors. */

import type { ChunkFilter, StoreNotice } from '../../core/store.ts'
import type { Scored } from '../rank/blend.ts'
import { backgroundOf, blend, standOut } from '../rank/blend.ts'
import { RANKING } from '../rank/score.ts'
import { CodeScorer, dot } from '../vectors/unit.ts'
import { bestAccepted } from './accepted.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact } from './facts.ts'
import type { Corpus } from './facts.ts'
import { currentEmbedder, forEachCode, readCodes, readVectors } from './vectors.ts'
import type { CodePage } from './vectors.ts'

/** The vector of a question, and the embedder whose vectors it can be compared with. */
export interface QueryVector {
  readonly embedder: number
  /** Of length 1. */
  readonly vector: Float32Array
}

/** The vector of a question, or the reason why it is missing. */
export interface EmbeddedQuery {
  /** Absent: the search uses words alone. */
  readonly vector?: QueryVector
  /** The reason for a missing vector, if it is worth reporting. */
  readonly notice?: StoreNotice
}

/** The result of the search by words. */
export interface WordResult {
  readonly scored: Scored
  /** The best chunks by words. */
  readonly ids: readonly number[]
  /** Share of the question that the best chunk has, 0 to 1. */
  readonly coverage: number
}

export class VectorRanking {
  readonly #connection: Connection
  #codes: { readonly key: string; readonly pages: readonly CodePage[] } | undefined
  #usual: { readonly key: string; readonly vectors: ReadonlyMap<number, Float32Array> } | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Combines the scores of words and vectors; `undefined` when the vectors are now of another model. Call it inside a snapshot. */
  rank(
    corpus: Corpus,
    { scored, ids, coverage }: WordResult,
    asked: QueryVector,
    filter: ChunkFilter | undefined,
  ): Scored | undefined {
    const embedder = currentEmbedder(this.#connection)
    if (embedder?.id !== asked.embedder || embedder.dimensions !== asked.vector.length) return undefined
    const { candidates } = RANKING.vectors
    const usual = this.#usualVectors(corpus, embedder.id)
    const cosines = new Map<number, number>()
    for (const [id, vector] of usual) cosines.set(id, dot(vector, asked.vector))
    const background = backgroundOf([...cosines.values()], corpus.chunks)
    const near = corpus.chunks <= candidates ? [] : this.#near(corpus, asked, filter)
    const rest = new Set([...near, ...ids].filter((id) => !cosines.has(id)))
    for (const [id, vector] of readVectors(this.#connection, embedder.id, [...rest])) cosines.set(id, dot(vector, asked.vector))
    const highest = ids.reduce((most, id) => Math.max(most, scored.scores[id] ?? 0), 0)
    const words = (id: number): number => (highest === 0 ? 0 : (scored.scores[id] ?? 0) / highest)
    const scores = scored.scores.map((score, id) => (score > 0 ? blend(words(id), coverage, 0) : 0))
    for (const [id, cosine] of cosines) scores[id] = blend(words(id), coverage, standOut(cosine, background))
    return { scores, keys: scored.keys }
  }

  /** Returns the chunks whose codes are nearest to the question, among those that the filter accepts. */
  #near(corpus: Corpus, { embedder, vector }: QueryVector, filter: ChunkFilter | undefined): readonly number[] {
    const scorer = new CodeScorer(vector)
    // Lifts all scores above 0, because only those are selected.
    const lift = 1 + vector.reduce((sum, value) => sum + Math.abs(value), 0)
    const estimates = { scores: new Float64Array(corpus.lengths.length), keys: corpus.keys }
    const key = `${embedder} ${readFact(this.#connection, 'vector_changes')}`
    if (this.#codes?.key !== key) this.#codes = { key, pages: readCodes(this.#connection, embedder) }
    forEachCode(this.#codes.pages, vector.length, (chunk, codes, at) => {
      estimates.scores[chunk] = lift + scorer.score(codes, at)
    })
    return bestAccepted(this.#connection, filter, estimates)(RANKING.vectors.candidates)
  }

  /** Returns the vectors of all chunks of a small store, else of those with the lowest tie keys: a choice that depends on the contents alone. */
  #usualVectors(corpus: Corpus, embedder: number): ReadonlyMap<number, Float32Array> {
    const facts = [embedder, readFact(this.#connection, 'changes'), readFact(this.#connection, 'vector_changes')]
    const key = facts.join(' ')
    if (this.#usual?.key === key) return this.#usual.vectors
    const { candidates } = RANKING.vectors
    const present: number[] = []
    for (let id = 0; id < corpus.lengths.length; id++) if ((corpus.lengths[id] ?? 0) > 0) present.push(id)
    if (corpus.chunks > candidates) present.sort((a, b) => (corpus.keys[a] ?? 0) - (corpus.keys[b] ?? 0) || a - b)
    const vectors = readVectors(this.#connection, embedder, present.slice(0, candidates))
    this.#usual = { key, vectors }
    return vectors
  }
}
