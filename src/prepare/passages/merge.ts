/** Merges passages with the same text into one that lists all its places. */

import type { Place, ScoredChunk } from '../../core/store.ts'
import { patternFor } from '../../util/pattern.ts'

export interface Passage {
  readonly chunk: ScoredChunk
  /** Other places with the same text. */
  readonly alsoIn: readonly Place[]
  readonly wording: Wording
}

export interface Merged {
  /** One list per input list, in the same order. */
  readonly lists: readonly (readonly Passage[])[]
  /** Number of chunks merged into others; a chunk that was passed twice is not counted. */
  readonly merged: number
}

/** Number of words below which the meaning of a text depends on its headings. */
const SPEAKS_FOR_ITSELF = 24

/**
 * Drops passages that add nothing to a better one: the same chunk, the same words (ignoring case, punctuation and markup), or a
 * part of them. A passage that differs in a single word or number is kept. Messages of conversations are not merged.
 * Idempotent.
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

  /** Returns the best passage that contains all words of the chunk; searches those with its rarest word. */
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
  // A short text may occur in another by chance.
  if (isShort) return wording.words.join(' ') === other.wording.words.join(' ')
  return wording.vocabulary.isSubsetOf(other.wording.vocabulary) && wording.shingles.isSubsetOf(other.wording.shingles)
}

function headingOf({ title, headings = [] }: ScoredChunk): string {
  return JSON.stringify([title ?? null, headings])
}

export function placeOf({ id, source, start, end }: ScoredChunk): Place {
  return { id, source, start, end }
}

/** Matches runs of letters and digits; in scripts without spaces between words single characters. */
const WORDS = patternFor(
  String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}][\p{M}]*|[\p{L}\p{M}\p{N}]+`,
  'gu',
)
/** Words per shingle: long enough that different texts about one topic share few. */
const WORDS_OF_SHINGLE = 4
/** Texts longer than this, beyond any chunker, are compared as a whole. */
const MAX_CHARS = 50_000

class Wording {
  /** Words in order, without case, punctuation and markup. */
  readonly words: readonly string[]
  /** The set of words. */
  readonly vocabulary: ReadonlySet<string>
  #shingles: ReadonlySet<string> | undefined

  constructor(text: string) {
    this.words = text.length > MAX_CHARS ? [text] : wordsOf(text)
    this.vocabulary = new Set(this.words)
  }

  /** Every run of four words, or the whole of a shorter text. Computed on first use, since most passages share no words. */
  get shingles(): ReadonlySet<string> {
    this.#shingles ??= shinglesOf(this.words)
    return this.#shingles
  }

  /** Returns the share (0 to 1) of its shingles in the other set. */
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
