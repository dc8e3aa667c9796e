/**
 * Combines the scores of words and of vectors, smooths scores among similar chunks, and selects the best without sorting all.
 * `docs/retrieval.md` has the measurements.
 */

import { RANKING } from './score.ts'

/** Statistics of the cosines of the question with all chunks of a store, or with chunks chosen independently of the question. */
export interface Background {
  readonly chunks: number
  readonly mean: number
  readonly deviation: number
}

/** Cosines are rounded to integers: their sums do not depend on the order, so that equal stores return bit-identical scores. */
const STEPS = 2 ** 16

/** @param chunks number of chunks in the store; `cosines` may cover only some of them. */
export function backgroundOf(cosines: readonly number[], chunks: number): Background {
  let sum = 0
  let squares = 0
  for (const cosine of cosines) {
    const whole = Math.round(cosine * STEPS)
    sum += whole
    squares += whole * whole
  }
  const mean = sum / Math.max(1, cosines.length)
  const variance = Math.max(0, squares / Math.max(1, cosines.length) - mean * mean)
  return { chunks, mean: mean / STEPS, deviation: Math.sqrt(variance) / STEPS }
}

/** With so few chunks chance cannot be estimated: every chunk at or above the mean is returned, ranked last. */
const FEW = 20
const LEAST = 0.001

/**
 * Measures how far a chunk stands out, independent of the model's scale: standard deviations above the mean, less half of the best value expected by
 * chance among as many unrelated chunks, √(2 ln n). Returns 0 at or below that, 1 at `RANKING.vectors.deviations`.
 */
export function standOut(cosine: number, { chunks, mean, deviation }: Background): number {
  if (cosine <= 0) return 0
  const least = chunks <= FEW && cosine > mean - 1 / STEPS ? LEAST : 0
  if (deviation < 1 / STEPS) return least
  const byChance = Math.sqrt(2 * Math.log(chunks))
  return Math.max(least, ((cosine - mean) / deviation - byChance / 2) / RANKING.vectors.deviations)
}

/**
 * @param words score for the words, as a share of the best score.
 * @param coverage share of the question in the best chunk, 0 to 1: the weight of the words.
 */
export function blend(words: number, coverage: number, vector: number): number {
  const { share } = RANKING.vectors
  return (1 - share) * coverage * words + share * vector
}

/** Scores by chunk, and tie-breaking keys, which must not depend on the order in which chunks were added. */
export interface Scored {
  readonly scores: Float64Array
  readonly keys: Uint32Array
}

/** Returns the `limit` chunks with the highest scores above 0, best first; among the given chunks, or among all. */
export function best({ scores, keys }: Scored, limit: number, among?: readonly number[]): number[] {
  if (limit <= 0) return []
  const compare = (a: number, b: number): number =>
    (scores[b] ?? 0) - (scores[a] ?? 0) || (keys[a] ?? 0) - (keys[b] ?? 0) || a - b
  // Little room, so that the cutoff is found early: most searches ask for few results.
  const room = 2 * limit + 8
  const size = among?.length ?? scores.length
  let kept: number[] = []
  let floor = 0
  for (let at = 0; at < size; at++) {
    const id = among === undefined ? at : (among[at] ?? 0)
    const score = scores[id] ?? 0
    if (score <= 0 || score < floor) continue
    kept.push(id)
    if (kept.length < room) continue
    kept = kept.sort(compare).slice(0, limit)
    floor = scores[kept[limit - 1] ?? 0] ?? 0
  }
  return kept.sort(compare).slice(0, limit)
}

export interface Neighbour {
  readonly id: number
  /** Higher is more similar. */
  readonly similarity: number
}

/**
 * Smooths the scores of the candidates and of their neighbours: the own score's share plus the similarity-weighted mean of the neighbours' scores.
 * The sum is divided by the own share, so that it compares with scores that are not smoothed. The neighbours of a chunk that is not a candidate are
 * the candidates that named it; without a score of its own, it must be similar enough.
 */
export function smooth(
  candidates: ReadonlyMap<number, readonly Neighbour[]>,
  score: (id: number) => number,
  chunks: number,
): Map<number, number> {
  const { own, neighbours: limit, newcomers } = RANKING.neighbours
  const isNear = ({ similarity }: Neighbour): boolean => chunks >= newcomers.leastChunks && similarity >= newcomers.floor
  const around = new Map<number, Neighbour[]>()
  for (const [id, neighbours] of candidates) {
    around.set(id, [...neighbours])
    for (const neighbour of neighbours) {
      if (candidates.has(neighbour.id) || (score(neighbour.id) === 0 && !isNear(neighbour))) continue
      const known = around.get(neighbour.id)
      const back = { id, similarity: neighbour.similarity }
      if (known === undefined) around.set(neighbour.id, [back])
      else known.push(back)
    }
  }
  const smoothed = new Map<number, number>()
  for (const [id, neighbours] of around) {
    let sum = 0
    let weight = 0
    for (const neighbour of neighbours.toSorted((a, b) => b.similarity - a.similarity).slice(0, limit)) {
      sum += neighbour.similarity * score(neighbour.id)
      weight += neighbour.similarity
    }
    smoothed.set(id, score(id) + (weight === 0 ? 0 : (((1 - own) / own) * sum) / weight))
  }
  return smoothed
}
