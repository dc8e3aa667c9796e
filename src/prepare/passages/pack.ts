/** Which passages are sent when not all have room: the best, and of those that say nearly the same, one before the others. */

import type { Passage } from './merge.ts'

export interface Packed {
  /** One list for each given, in the order in which they were given. */
  readonly lists: readonly (readonly Passage[])[]
  /** Tokens that are left; `null` when there is no limit. */
  readonly left: number | null
}

/** Of its shingles in those that have their place: from here on a passage waits until the others have theirs. */
const ALIKE = 0.8

/**
 * Gives places by rank until one has no room: first to what adds something, then to what was passed over. Of equal rank the first list goes
 * before the second. Whoever has a place keeps its order.
 *
 * @param room in tokens; `null` for no limit.
 * @param tokensOf what a passage takes up with all that stands around it.
 */
export function packPassages(
  lists: readonly (readonly Passage[])[],
  room: number | null,
  tokensOf: (passage: Passage, list: number) => number,
): Packed {
  if (room === null) return { lists, left: null }
  const wanted = lists.reduce((sum, list, index) => sum + list.reduce((all, passage) => all + tokensOf(passage, index), 0), 0)
  if (wanted <= room) return { lists, left: room - wanted }
  const kept = new Set<Passage>()
  const said = new Set<string>()
  const waiting: [Passage, number][] = []
  let left = room

  const take = ([passage, list]: [Passage, number]): boolean => {
    const tokens = tokensOf(passage, list)
    if (tokens > left) return false
    left -= tokens
    kept.add(passage)
    for (const shingle of passage.wording.shingles) said.add(shingle)
    return true
  }
  for (const entry of byRank(lists)) {
    if (entry[0].wording.shareIn(said) >= ALIKE) waiting.push(entry)
    else if (!take(entry)) break
  }
  for (const entry of waiting) if (!take(entry)) break
  return { lists: lists.map((list) => list.filter((passage) => kept.has(passage))), left }
}

function* byRank(lists: readonly (readonly Passage[])[]): Generator<[Passage, number]> {
  const most = Math.max(0, ...lists.map(({ length }) => length))
  for (let rank = 0; rank < most; rank++) {
    for (const [index, list] of lists.entries()) {
      const passage = list[rank]
      if (passage !== undefined) yield [passage, index]
    }
  }
}
