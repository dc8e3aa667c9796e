/** Passages that say the same become one that knows all its places. */

import type { Place, ScoredChunk } from '../../core/store.ts'
import { shinglesOf } from './shingles.ts'
import type { Shingles } from './shingles.ts'

export interface Passage {
  readonly chunk: ScoredChunk
  /** Other places that say the same. */
  readonly alsoIn: readonly Place[]
  readonly shingles: Shingles
}

export interface Merged {
  /** One list for each given, in their order. */
  readonly lists: readonly (readonly Passage[])[]
  /** Chunks that stand for themselves no more; a chunk that was given twice is not counted. */
  readonly merged: number
}

/** What a shorter text says depends on what stands above it. */
const SPEAKS_FOR_ITSELF = 24

/**
 * Leaves out what says nothing that a better passage does not say: the same chunk again, the same words (case, punctuation and markup aside),
 * or a part of them. Numbers and single words count: what differs in one of them stays. What somebody said in a conversation is left
 * alone. Doing it again changes nothing.
 *
 * @param lists each best first; a passage of an earlier list is better than all of a later one.
 */
export function mergePassages(lists: readonly (readonly ScoredChunk[])[]): Merged {
  const seen = new Set<string>()
  const kept: { chunk: ScoredChunk; shingles: Shingles; alsoIn: Place[] }[] = []
  const holders = new Map<string, number[]>()
  let merged = 0
  const made = lists.map((chunks) => {
    const from = kept.length
    for (const chunk of chunks) {
      if (seen.has(chunk.id)) continue
      seen.add(chunk.id)
      const shingles = shinglesOf(chunk.text)
      const better = chunk.spokenBy === undefined ? betterOf(chunk, shingles) : undefined
      if (better !== undefined) {
        better.alsoIn.push(placeOf(chunk))
        merged++
        continue
      }
      for (const shingle of shingles.all) {
        const at = holders.get(shingle)
        if (at === undefined) holders.set(shingle, [kept.length])
        else at.push(kept.length)
      }
      kept.push({ chunk, shingles, alsoIn: [] })
    }
    return [from, kept.length] as const
  })
  return { lists: made.map(([from, to]) => kept.slice(from, to)), merged }

  /** The best passage that holds all shingles: it is among those that hold the rarest one. */
  function betterOf(chunk: ScoredChunk, shingles: Shingles): (typeof kept)[number] | undefined {
    let fewest: readonly number[] | undefined
    for (const shingle of shingles.all) {
      const at = holders.get(shingle)
      if (at === undefined) return undefined
      if (fewest === undefined || at.length < fewest.length) fewest = at
    }
    const index = fewest?.find((at) => {
      const other = kept[at]
      return other !== undefined && saysAll(other, chunk, shingles)
    })
    return index === undefined ? undefined : kept[index]
  }
}

function saysAll(other: Pick<Passage, 'chunk' | 'shingles'>, chunk: ScoredChunk, { words, count, all }: Shingles): boolean {
  if (other.chunk.spokenBy !== undefined) return false
  if (count === 0) return chunk.text === other.chunk.text
  if (count < SPEAKS_FOR_ITSELF && headingOf(chunk) !== headingOf(other.chunk)) return false
  if (words === other.shingles.words) return true
  // A short text may stand in another by chance.
  return count >= SPEAKS_FOR_ITSELF && all.isSubsetOf(other.shingles.all)
}

function headingOf({ title, headings = [] }: ScoredChunk): string {
  return JSON.stringify([title ?? null, headings])
}

export function placeOf({ id, source, start, end }: ScoredChunk): Place {
  return { id, source, start, end }
}
