/** Finds the first and the last sentence of a range that has words. */

import { patternFor } from '../util/pattern.ts'
import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'
import { sentenceEnds } from './sentences.ts'

const WORD = patternFor(String.raw`[\p{L}\p{N}]`, 'u')
/** UTF-16 units of the marks before a sentence that are looked at: a bound on the cost. */
const LONGEST_HEAD = 200

export function hasWords(text: string): boolean {
  return WORD(text).test(text)
}

/** The last sentence with words; one that ends within a quotation goes on. */
export function lastSentence(answer: string, { start, end }: Range, quotations: readonly Range[]): Range {
  let from = start
  let before = start
  for (const at of sentenceEnds(answer, start, end)) {
    if (!hasWords(answer.slice(at, end))) break
    if (rangeAround(quotations, at) === undefined && hasWords(answer.slice(before, at))) from = at
    before = at
  }
  return trimmed(answer, { start: from, end })
}

/** Where the first sentence with words ends. */
export function firstSentenceEnd(answer: string, start: number, end: number): number {
  for (const at of sentenceEnds(answer, start, end)) if (hasWords(answer.slice(start, at))) return at
  return end
}

/** A statement begins with its words: marks of punctuation and of lists before them are none of it. */
export function trimmed(answer: string, { start, end }: Range): Range {
  const head =
    /^(?:[\s.!?,;:。，；：、]|(?:[-*+•>|]|\d{1,3}[.)]|#{1,6})[ \t])*/u.exec(
      answer.slice(start, Math.min(end, start + LONGEST_HEAD)),
    )?.[0] ?? ''
  return start + head.length < end ? { start: start + head.length, end } : { start, end }
}
