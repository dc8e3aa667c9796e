/** Passages that say the same become one that knows all its places. */

import type { Place, ScoredChunk } from '../../core/store.ts'
import { patternFor } from '../../util/pattern.ts'

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

/** Words below which the meaning of a text depends on the headings above it. */
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

/** Letters and digits; in scripts without spaces between words each character by itself. */
const WORDS = patternFor(
  String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}][\p{M}]*|[\p{L}\p{M}\p{N}]+`,
  'gu',
)
/** Long enough that two texts about the same thing share few. */
const WORDS_OF_SHINGLE = 4
/** Longer texts than any chunker makes are compared as a whole. */
const MAX_CHARS = 50_000

class Wording {
  /** Without case, punctuation and markup, in their order. */
  readonly words: readonly string[]
  /** Each word once. */
  readonly vocabulary: ReadonlySet<string>
  #shingles: ReadonlySet<string> | undefined

  constructor(text: string) {
    this.words = text.length > MAX_CHARS ? [text] : wordsOf(text)
    this.vocabulary = new Set(this.words)
  }

  /** Every run of four words; of a shorter text the whole. Made when it is first asked for: most passages share nothing. */
  get shingles(): ReadonlySet<string> {
    this.#shingles ??= shinglesOf(this.words)
    return this.#shingles
  }

  /** Share (0 to 1) of its shingles that stand in the other set. */
  shareIn(other: ReadonlySet<string>): number {
    let found = 0
    for (const shingle of this.shingles) if (other.has(shingle)) found++
    return found / this.shingles.size
  }
}

function wordsOf(text: string): readonly string[] {
  const folded = text.normalize('NFKC').toLowerCase()
  return folded.match(WORDS(folded)) ?? []
}

function shinglesOf(words: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>()
  for (let at = 0; at === 0 || at + WORDS_OF_SHINGLE <= words.length; at++) {
    all.add(words.slice(at, at + WORDS_OF_SHINGLE).join(' '))
  }
  return all
}
