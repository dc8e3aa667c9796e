/**
 * Joins the scores of words and of vectors, lets chunks about the same thing lend each other some of theirs, and picks the best without sorting
 * all. `docs/retrieval.md` has the measurements.
 */

import { RANKING } from './settings.ts'

/** Cosines of the question with all chunks of a store, or with chunks that were chosen without looking at the question. */
export interface Background {
  readonly chunks: number
  readonly mean: number
  readonly deviation: number
}

/** Cosines as whole numbers: their sums do not depend on the order, so that equal stores give equal scores to the last bit. */
const STEPS = 2 ** 16

/** @param chunks in the store; `cosines` may be a part of them. */
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

/** So few chunks do not tell what comes by chance: what is not below the mean is worth showing, last. */
const FEW = 20
const LEAST = 0.001

/**
 * How far a chunk stands out, whatever the scale of the model: standard deviations above the mean, less half of what the best of as many
 * unrelated chunks would reach by chance, √(2 ln n). 0 where that is nothing, 1 for `RANKING.vectors.deviations`.
 */
export function standOut(cosine: number, { chunks, mean, deviation }: Background): number {
  if (cosine <= 0) return 0
  const least = chunks <= FEW && cosine > mean - 1 / STEPS ? LEAST : 0
  if (deviation < 1 / STEPS) return least
  const byChance = Math.sqrt(2 * Math.log(chunks))
  return Math.max(least, ((cosine - mean) / deviation - byChance / 2) / RANKING.vectors.deviations)
}

/**
 * @param words score for the words, as a share of the best one's.
 * @param coverage of the question by the best chunk, 0 to 1: what the words are trusted.
 */
export function blend(words: number, coverage: number, vector: number): number {
  const { share } = RANKING.vectors
  return (1 - share) * coverage * words + share * vector
}

/** Scores by chunk, and what orders equal scores: keys must not depend on the order in which chunks were added. */
export interface Scored {
  readonly scores: Float64Array
  readonly keys: Uint32Array
}

/** The `limit` chunks with the highest scores above 0, best first; among those given, or among all. */
export function best({ scores, keys }: Scored, limit: number, among?: readonly number[]): number[] {
  if (limit <= 0) return []
  const compare = (a: number, b: number): number =>
    (scores[b] ?? 0) - (scores[a] ?? 0) || (keys[a] ?? 0) - (keys[b] ?? 0) || a - b
  // Little room, so that the floor is known soon: most searches ask for the best few.
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
  /** More is more alike. */
  readonly similarity: number
}

/**
 * Smoothed scores of the candidates and of those chunks that candidates have as neighbours: a share of the own score, the rest the mean
 * of the neighbours' scores, weighted by similarity; all divided by the own share, so that they compare with scores that are not smoothed. For a chunk that is no candidate the candidates that named it are its neighbours; one
 * without a score of its own has to be near enough.
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
