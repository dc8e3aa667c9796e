/** Lets chunks about the same thing lend each other some of their score. */

import { RANKING } from './settings.ts'

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
