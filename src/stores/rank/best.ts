/** The best of many, without sorting all. */

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
