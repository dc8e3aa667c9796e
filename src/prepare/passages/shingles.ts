/** Texts as sets of short runs of words, to tell how much of one stands in another (A. Broder, On the resemblance and containment of documents, 1997). */

import { patternFor } from '../../util/pattern.ts'

/** Letters and digits; in scripts without spaces between words each character by itself. */
const WORDS = patternFor(
  String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}][\p{M}]*|[\p{L}\p{M}\p{N}]+`,
  'gu',
)
/** Long enough that two texts about the same thing share few. */
const WORDS_OF_SHINGLE = 4
/** Longer texts than any chunker makes are compared as a whole. */
const MAX_CHARS = 50_000

export class Wording {
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
