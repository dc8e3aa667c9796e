/** The usual case in no time: an answer that repeats whole sentences of its passage, save for where the lines break. */

import { patternFor } from '../../util/pattern.ts'
import type { Range } from './range.ts'

/** Longer stretches are rare, and a pattern of their length is no help. */
const LONGEST = 2000
/** Comparisons at worst, where words and text repeat one word without end. */
const MOST_WORK = 20_000_000
const NOT_IN_WORDS = /[\\^$.*+?()[\]{}|]/g
/** What may stand before a sentence: another one, an empty line, the mark of a list. */
const SENTENCE_BEGINS =
  /(?:^|[.!?。！？]["'”’)\]]{0,3}\s{1,5}|\n\s{0,12}(?:\n|[-*+•][ \t]{1,3}|\d{1,3}[.)][ \t]{1,3}))[ \t]{0,12}$/
const WORD_GOES_ON = patternFor(String.raw`^[\p{L}\p{M}\p{N}]`, 'u')

/** Where the text has these words from the beginning of a sentence on; UTF-16 offsets, punctuation at the ends included. */
export function standsLiterally(words: string, text: string): Range | undefined {
  if (words === '' || words.length > LONGEST || words.length * text.length > MOST_WORK) return undefined
  const pattern = words
    .split(/\s+/)
    .map((word) => word.replaceAll(NOT_IN_WORDS, String.raw`\$&`))
    .join(String.raw`\s+`)
  const found = new RegExp(pattern).exec(text)
  if (found === null) return undefined
  const start = found.index
  const end = start + found[0].length
  // A denial before the words would be left out; half a word is another word.
  if (!SENTENCE_BEGINS.test(text.slice(Math.max(0, start - 24), start))) return undefined
  const after = text.slice(end, end + 2)
  return WORD_GOES_ON(after).test(after) ? undefined : { start, end }
}
