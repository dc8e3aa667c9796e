/**
 * Chooses the passages of a request: merges those with the same text, takes those that fit, and cuts the best one if not even that one fits.
 */

import { retrieved } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { Place, ScoredChunk } from '../../core/store.ts'
import { patternFor } from '../../util/pattern.ts'
import { fenced } from '../fence.ts'
import { estimateMessageTokens } from '../tokens.ts'

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

export interface Packed {
  /** One list per input list, in the same order. */
  readonly lists: readonly (readonly Passage[])[]
  /** Remaining tokens; `null`: no limit. */
  readonly left: number | null
}

/** Share of a passage's shingles in chosen ones from which it is deferred until the others are placed. */
const ALIKE = 0.8

/**
 * Chooses passages by rank until one does not fit: first those with new text, then deferred ones. At equal rank the first list precedes
 * the second. Chosen passages keep their order.
 *
 * @param room in tokens; `null` for no limit.
 * @param tokensOf returns the tokens of a passage with its label and fence.
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

/** Minimum useful length of a cut passage. */
const LEAST_CHARS = 80

/** Cuts a passage to fit, at the end of a word, and adapts its range; `undefined` if almost nothing would remain. */
export function cutPassage(passage: Passage, fits: (passage: Passage) => boolean): Passage | undefined {
  const { chunk } = passage
  let [low, high] = [0, chunk.text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(beginning(passage, middle))) low = middle
    else high = middle - 1
  }
  const text = chunk.text.slice(0, low)
  const end = low < chunk.text.length ? Math.max(text.search(/\s\S*$/), wordsEnd(text)) : low
  return end < LEAST_CHARS ? undefined : beginning(passage, end)
}

/** Returns the end of the last word. Without a space nearby, cuts at any character, but never within a surrogate pair. */
function wordsEnd(text: string): number {
  const least = Math.floor(text.length * 0.8)
  return /\s/.test(text.slice(least)) ? 0 : text.length - (/[\uD800-\uDBFF]$/.test(text) ? 1 : 0)
}

function beginning(passage: Passage, length: number): Passage {
  const { chunk } = passage
  const text = chunk.text.slice(0, length)
  const { lines, ...rest } = chunk
  const first = lines?.[0]
  return {
    ...passage,
    chunk: {
      ...rest,
      text,
      end: chunk.start + length,
      ...(first === undefined ? {} : { lines: [first, first + (text.match(/\r\n|\r|\n/g)?.length ?? 0)] }),
    },
  }
}

type Origin = 'docstore' | 'memory'

export function passageMessage({ chunk, alsoIn }: Passage, marker: string, origin: Origin, store: string): Message {
  return retrieved({ marker, origin, store, chunk, ...(alsoIn.length === 0 ? {} : { alsoIn }) })
}

/** Marker for counting tokens before the number of passages is known. */
const WIDEST_MARKER = '0000'

export function tokensOfPassage(passage: Passage, origin: Origin = 'docstore'): number {
  return estimateMessageTokens(fenced(passageMessage(passage, WIDEST_MARKER, origin, '')))
}
