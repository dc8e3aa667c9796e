/** Splits text into words that compare equal if only case, accents, width, punctuation or markup differ. */

import { fold, normalize } from './fold.ts'
import { patternFor } from '../util/pattern.ts'
import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

/** Parallel arrays: each word, its stem, and its offsets in the text. */
export interface Words {
  readonly text: string
  readonly words: readonly string[]
  readonly keys: readonly string[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** Words with an index of the places of each stem. */
export interface IndexedWords extends Words {
  readonly places: ReadonlyMap<string, readonly number[]>
}

/** Scripts without spaces between words: each character counts as a word. */
const DENSE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const WORD = patternFor(
  String.raw`[${DENSE}]|(?:(?:(?![${DENSE}])[\p{L}\p{N}\p{M}])+)(?:_+(?:(?![${DENSE}])[\p{L}\p{N}\p{M}])+)*|[<>=+%$€£¥≤≥≠&|]`,
  'gu',
)
const DENSE_WORD = /^[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]$/u
/** Markup between the words of a source: link addresses, tags, footnote marks, table bars, block-quote marks. */
const MARKUP = /\]\([^()\s]{0,500}\)|<\/?[A-Za-z][^<>\n]{0,200}>|\[\^?\d{1,3}\]|(?<=^|\n)[ \t]*>|\|/g
/** Inflectional endings, removed one after the other as long as enough of the word is left. */
const ENDING = /(?:ing|ed|er|en|es|em|ly|[aeiouystn]|[аеёиоуыэюяйьмхвтн])$/u
const SHORTEST_STEM = 4
const LONGEST_STEM = 9

/** @param skip ranges without words. */
export function readWords(text: string, skip: readonly Range[] = []): Words {
  const words: string[] = []
  const keys: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  const markup = [...text.matchAll(MARKUP)].map(({ index, 0: { length } }) => ({ start: index - 1, end: index + length }))
  for (const { index: start, 0: raw } of text.matchAll(WORD(text))) {
    if (rangeAround(skip, start + 1) !== undefined || rangeAround(markup, start) !== undefined) continue
    if (raw === '+' && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 8), start))) continue
    const isSigned =
      /^\p{N}/u.test(raw) &&
      /(?:^|[\s(])[-−]$/.test(text.slice(Math.max(0, start - 2), start)) &&
      !/\p{N}\s[-−]$/u.test(text.slice(Math.max(0, start - 3), start))
    for (const part of normalize(raw).split(/[^\p{L}\p{N}\p{M}_<>=+%$€£¥≤≥≠&|]+/u)) {
      const word = fold(part)
      if (word === '') continue
      words.push(isSigned ? `-${word}` : word)
      keys.push(stemOf(word))
      starts.push(start)
      ends.push(start + raw.length)
    }
  }
  // A single character of a dense script is ambiguous, so that its key is the pair with the next.
  for (let at = 0; at < keys.length; at++) {
    if (!DENSE_WORD.test(words[at] ?? '')) continue
    const next = words[at + 1] ?? ''
    if (DENSE_WORD.test(next) && starts[at + 1] === ends[at]) keys[at] = `${words[at]}${next}`
  }
  return { text, words, keys, starts, ends }
}

/** Returns a stem that the inflected forms of a word share in most languages with endings. */
export function stemOf(word: string): string {
  let stem = word
  for (;;) {
    const ending = ENDING.exec(stem)?.[0].length ?? 0
    const length = stem.length - (stem.length - ending < SHORTEST_STEM ? 1 : ending)
    if (ending === 0 || length < SHORTEST_STEM) return stem.slice(0, LONGEST_STEM)
    stem = stem.slice(0, length)
  }
}

export function isDense(word: string): boolean {
  return DENSE_WORD.test(word)
}

/** Returns the index of the first word that begins at or after an offset. */
export function wordAt({ starts }: Words, at: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low
}
