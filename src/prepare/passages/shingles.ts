/** Texts as sets of short runs of words, to tell how much of one stands in another (A. Broder, On the resemblance and containment of documents, 1997). */

import { patternFor } from '../../util/pattern.ts'

/** Letters and digits; in scripts without spaces between words each character by itself. */
const WORDS = patternFor(
  String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}][\p{M}]*|[\p{L}\p{M}\p{N}]+`,
  'gu',
)
/** Long enough that two texts about the same thing share few. */
const WORDS_OF_SHINGLE = 4

export interface Shingles {
  /** Words without case, punctuation and markup, joined by blanks. */
  readonly words: string
  readonly count: number
  /** Every run of four words; of a shorter text the whole. */
  readonly all: ReadonlySet<string>
}

/** Longer texts than any chunker makes are compared as a whole. */
const MAX_CHARS = 50_000

export function shinglesOf(text: string): Shingles {
  if (text.length > MAX_CHARS) return { words: text, count: text.length, all: new Set([text]) }
  const folded = text.normalize('NFKC').toLowerCase()
  const words = folded.match(WORDS(folded)) ?? []
  const all = new Set<string>()
  for (let at = 0; at === 0 || at + WORDS_OF_SHINGLE <= words.length; at++) {
    all.add(words.slice(at, at + WORDS_OF_SHINGLE).join(' '))
  }
  return { words: words.join(' '), count: words.length, all }
}

/** Share (0 to 1) of the shingles that stand in the other set. */
export function shareIn({ all }: Shingles, other: ReadonlySet<string>): number {
  let found = 0
  for (const shingle of all) if (other.has(shingle)) found++
  return found / all.size
}
