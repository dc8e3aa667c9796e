/** Where a citation points: the words that were found, and the punctuation around them. */

import { patternFor } from '../../util/pattern.ts'
import type { Range } from './range.ts'

const MARK = patternFor(String.raw`[\p{P}\p{S}]`, 'u')
const MARKS_AT_START = patternFor(String.raw`^[\p{P}\p{S}]*`, 'u')
const MARKS_AT_END = patternFor(String.raw`[\p{P}\p{S}]*$`, 'u')

/** Marks that are taken along at either end. */
const MOST_MARKS = 4
/** UTF-16 units at either end of the answer's words that are looked through for marks: a bound on the cost. */
const LONGEST_END = 20

/** The words of the passage with the punctuation around them that the answer has too. */
export function citedPlace(text: string, { start, end }: Range, answer: string, range: Range): Range {
  const said = answer.slice(range.start, range.end)
  const tail = said.slice(-LONGEST_END).trimEnd()
  const after = MARKS_AT_END(tail).exec(tail)?.[0] ?? ''
  const head = said.slice(0, LONGEST_END).trimStart()
  const before = MARKS_AT_START(head).exec(head)?.[0] ?? ''
  let last = end
  for (let at = 0; last < text.length && at < MOST_MARKS && after.length > 0; at++) {
    const mark = text[last] ?? ''
    if (!MARK(mark).test(mark) || (!after.includes(plain(mark)) && !after.includes(mark))) break
    last++
  }
  let first = start
  for (let at = 0; first > 0 && at < MOST_MARKS && before.length > 0; at++) {
    const mark = text[first - 1] ?? ''
    if (!MARK(mark).test(mark) || (!before.includes(mark) && !before.includes(plain(mark)))) break
    first--
  }
  return { start: first, end: last }
}

function plain(mark: string): string {
  return /[“”„«»]/.test(mark) ? '"' : /[‘’‚]/.test(mark) ? "'" : /[‐‑–—−]/.test(mark) ? '-' : mark
}
