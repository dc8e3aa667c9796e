/** Atoms of a paragraph: itself where it fits, else its sentences and those line ends that were meant. */

import { BORDER, trimRange } from './atom.ts'
import type { Atom } from './atom.ts'
import { cutRange } from './cut.ts'
import { linesOf } from '../../util/lines.ts'
import { sentenceEnds } from '../../text/sentences.ts'

export interface ProsePlace {
  readonly start: number
  readonly end: number
  readonly border: number
  readonly path: readonly string[]
}

/** A sentence shorter than this is joined with the one before it, which bounds the number of atoms. */
const TINY = 60
/** Nobody wraps lines this long, so a break after one is meant. */
const LONGEST_WRAPPED_LINE = 160

/** @param max Longest atom, in UTF-16 units. */
export function* proseAtoms(text: string, place: ProsePlace, max: number, lineBreak: string): Generator<Atom> {
  const whole = trimRange(text, place.start, place.end)
  if (whole === undefined) return
  if (whole.end - whole.start <= max) {
    yield { ...whole, border: place.border, path: place.path }
    return
  }
  let border = place.border
  let from = whole.start
  for (const { at, border: next } of borders(text, whole.start, whole.end, lineBreak)) {
    if (at - from < TINY && at < whole.end) continue
    yield* piece(text, from, at, max, border, place.path)
    from = at
    border = next
  }
}

function* piece(text: string, start: number, end: number, max: number, border: number, path: readonly string[]): Generator<Atom> {
  const whole = trimRange(text, start, end)
  if (whole === undefined) return
  let before = border
  for (const range of whole.end - whole.start <= max ? [whole] : cutRange(text, whole.start, whole.end, max)) {
    yield { ...range, border: before, path }
    before = BORDER.weak
  }
}

/** Ends of sentences and meant line ends in order; the end of the range comes last. */
function* borders(text: string, start: number, end: number, lineBreak: string): Generator<{ at: number; border: number }> {
  const breaks = meantLineEnds(text, start, end, lineBreak)
  let nextBreak = breaks.next()
  for (const at of sentenceEnds(text, start, end)) {
    while (nextBreak.done !== true && nextBreak.value <= at) {
      yield { at: nextBreak.value, border: BORDER.line }
      nextBreak = breaks.next()
    }
    yield { at, border: BORDER.sentence }
  }
  while (nextBreak.done !== true) {
    yield { at: nextBreak.value, border: BORDER.line }
    nextBreak = breaks.next()
  }
  yield { at: end, border: BORDER.weak }
}

/**
 * Line ends that an author meant, as in verse, lists and logs: the next line's first word would have fitted on the line, or the line
 * is longer than anyone wraps. Where that holds for most lines, each line is a record, and all of their ends are meant.
 */
function* meantLineEnds(text: string, start: number, end: number, lineBreak: string): Generator<number> {
  const width = wrapWidth(text, start, end, lineBreak)
  const meant: number[] = []
  let lines = 0
  for (const line of linesOf(text, start, end, lineBreak)) {
    if (line.next >= end) break
    lines++
    const length = line.end - line.start
    const firstWord = /^\s*\S{0,80}/.exec(text.slice(line.next, Math.min(end, line.next + 160)))?.[0].length ?? 0
    if (length > LONGEST_WRAPPED_LINE || length + 1 + firstWord <= width) meant.push(line.end)
  }
  if (meant.length <= lines / 2) {
    yield* meant
    return
  }
  for (const line of linesOf(text, start, end, lineBreak)) if (line.next < end) yield line.end
}

/** The length that nine of ten lines stay under: a long address in wrapped prose does not count. */
function wrapWidth(text: string, start: number, end: number, lineBreak: string): number {
  const counts = new Uint32Array(LONGEST_WRAPPED_LINE + 1)
  let lines = 0
  for (const line of linesOf(text, start, end, lineBreak)) {
    if (line.next >= end) break
    const length = Math.min(LONGEST_WRAPPED_LINE, line.end - line.start)
    counts[length] = (counts[length] ?? 0) + 1
    lines++
  }
  let seen = 0
  for (let length = 0; length <= LONGEST_WRAPPED_LINE; length++) {
    seen += counts[length] ?? 0
    if (seen >= lines * 0.9) return length
  }
  return LONGEST_WRAPPED_LINE
}
