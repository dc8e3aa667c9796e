/** Passages that say the same become one that knows all its places. */

import type { Place, ScoredChunk } from '../../core/store.ts'
import { Wording } from './shingles.ts'

export interface Passage {
  readonly chunk: ScoredChunk
  /** Other places that say the same. */
  readonly alsoIn: readonly Place[]
  readonly wording: Wording
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
  const kept: { chunk: ScoredChunk; wording: Wording; alsoIn: Place[] }[] = []
  const holders = new Map<string, number[]>()
  let merged = 0
  const made = lists.map((chunks) => {
    const from = kept.length
    for (const chunk of chunks) {
      if (seen.has(chunk.id)) continue
      seen.add(chunk.id)
      const wording = new Wording(chunk.text)
      const better = chunk.spokenBy === undefined ? betterOf(chunk, wording) : undefined
      if (better !== undefined) {
        better.alsoIn.push(placeOf(chunk))
        merged++
        continue
      }
      for (const word of wording.vocabulary) {
        const at = holders.get(word)
        if (at === undefined) holders.set(word, [kept.length])
        else at.push(kept.length)
      }
      kept.push({ chunk, wording, alsoIn: [] })
    }
    return [from, kept.length] as const
  })
  return { lists: made.map(([from, to]) => kept.slice(from, to)), merged }

  /** The best passage that says all: it is among those that have the rarest word. */
  function betterOf(chunk: ScoredChunk, wording: Wording): (typeof kept)[number] | undefined {
    if (wording.words.length === 0) return kept.find((other) => other.chunk.text === chunk.text)
    let fewest: readonly number[] | undefined
    for (const word of wording.vocabulary) {
      const at = holders.get(word)
      if (at === undefined) return undefined
      if (fewest === undefined || at.length < fewest.length) fewest = at
    }
    const index = fewest?.find((at) => {
      const other = kept[at]
      return other !== undefined && saysAll(other, chunk, wording)
    })
    return index === undefined ? undefined : kept[index]
  }
}

function saysAll(other: Pick<Passage, 'chunk' | 'wording'>, chunk: ScoredChunk, wording: Wording): boolean {
  const isShort = wording.words.length < SPEAKS_FOR_ITSELF
  if (other.chunk.spokenBy !== undefined || other.wording.words.length < wording.words.length) return false
  if (isShort && headingOf(chunk) !== headingOf(other.chunk)) return false
  // A short text may stand in another by chance.
  if (isShort) return wording.words.join(' ') === other.wording.words.join(' ')
  return wording.vocabulary.isSubsetOf(other.wording.vocabulary) && wording.shingles.isSubsetOf(other.wording.shingles)
}

function headingOf({ title, headings = [] }: ScoredChunk): string {
  return JSON.stringify([title ?? null, headings])
}

export function placeOf({ id, source, start, end }: ScoredChunk): Place {
  return { id, source, start, end }
}
