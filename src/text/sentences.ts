/** Finds the ends of sentences from punctuation and the text after it. In doubt, it does not split. */

import { patternFor } from '../util/pattern.ts'
import { isWhiteSpace } from '../util/lines.ts'
import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

const TERMINATOR = /[.!?…。！？｡।॥؟۔]/g
/** Marks that end a sentence without a following space. */
const UNSPACED_TERMINATORS = '。！？｡'
const TERMINATORS = `.!?…।॥؟۔${UNSPACED_TERMINATORS}`
const CLOSERS = '"\'”’»›)]}）」』】*_`'
/** Characters that combine with the one before. */
const COMBINES = /^[\p{M}\u200d]/u
const LOWER_CASE = /^\p{Ll}/u
/** Abbreviations that end in a full stop, in lower case. */
const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof sr jr st vs fig figs eq eqs no nos vol vols pp sec ch ref refs al cf ca approx ed eds rev gen col capt lt sgt inc ltd co corp dept est ' +
    'e.g i.e u.s u.k z.b d.h u.a bzw usw nr abs art hr fr bd hrsg vgl mme mlle etc jan feb mar apr jun jul aug sep sept oct nov dec'
  ).split(' '),
)
const WORD_BEFORE = patternFor(String.raw`[\p{L}\p{N}.]+$`, 'u')
const LONGEST_WORD = 24

/** Yields the offsets of all sentence ends in a range, closing quotes included. The end of the range is not yielded. */
export function* sentenceEnds(text: string, start: number, end: number): Generator<number> {
  // A copy of the range, so that a search without a match stops at its end, not at the end of the document.
  const range = text.slice(start, end)
  let at = 0
  for (;;) {
    TERMINATOR.lastIndex = at
    const match = TERMINATOR.exec(range)
    if (match === null) return
    at = match.index
    while (at < range.length && TERMINATORS.includes(range.charAt(at))) at++
    const isUnspaced = UNSPACED_TERMINATORS.includes(range.charAt(at - 1))
    const isFullStop = at === match.index + 1 && range.charCodeAt(match.index) === 0x2e
    while (at < range.length && CLOSERS.includes(range.charAt(at))) at++
    if (
      at < range.length &&
      ((isUnspaced && !COMBINES.test(range.slice(at, at + 2))) || endsHere(range, match.index, at, isFullStop))
    )
      yield start + at
  }
}

/** Yields the sentences of a range, together the whole range. */
export function* sentencesIn(text: string, { start, end }: Range): Generator<Range> {
  let from = start
  for (const at of sentenceEnds(text, start, end)) {
    yield { start: from, end: at }
    from = at
  }
  if (from < end) yield { start: from, end }
}

function endsHere(text: string, terminator: number, after: number, isFullStop: boolean): boolean {
  if (!isWhiteSpace(text, after)) return false
  let next = after
  while (next < text.length && isWhiteSpace(text, next)) next++
  if (LOWER_CASE.test(text.slice(next, next + 2))) return false
  return !isFullStop || !isAbbreviation(text.slice(Math.max(0, terminator - LONGEST_WORD), terminator))
}

function isAbbreviation(before: string): boolean {
  const word = WORD_BEFORE(before).exec(before)?.[0] ?? ''
  // Initials (`J.`), and numbers of items and ordinals (`3.`).
  if (/^(?:\p{L}|\d{1,2})$/u.test(word)) return true
  return ABBREVIATIONS.has(word.toLowerCase())
}

const WORD = patternFor(String.raw`[\p{L}\p{N}]`, 'u')
/** Most UTF-16 units of marks before a sentence; bounds the cost. */
const LONGEST_HEAD = 200

export function hasWords(text: string): boolean {
  return WORD(text).test(text)
}

/** Returns the last sentence with words; a sentence does not end within a quotation. */
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

/** Returns the end of the first sentence with words. */
export function firstSentenceEnd(answer: string, start: number, end: number): number {
  for (const at of sentenceEnds(answer, start, end)) if (hasWords(answer.slice(start, at))) return at
  return end
}

/** Trims leading punctuation and list marks, so that a statement begins with a word. */
export function trimmed(answer: string, { start, end }: Range): Range {
  const head =
    /^(?:[\s.!?,;:。，；：、]|(?:[-*+•>|]|\d{1,3}[.)]|#{1,6})[ \t])*/u.exec(
      answer.slice(start, Math.min(end, start + LONGEST_HEAD)),
    )?.[0] ?? ''
  return start + head.length < end ? { start: start + head.length, end } : { start, end }
}
