/** Whether words that an answer gives as a quotation stand in a passage, and if not, what became of them. */

import type { Run } from './automaton.ts'
import { align, isHarmless } from './alignment.ts'
import type { Alignment, Difference } from './alignment.ts'
import { foldedWords } from './comparison.ts'
import type { Comparison, PassageText, Place } from './comparison.ts'
import { denialAt } from './lexicon.ts'
import { isSingle } from './tokens.ts'

export interface Standing {
  readonly kind: 'verbatim' | 'elided'
  /** Words of the passage. */
  readonly place: Place
}

/** Finds words of an answer in a passage: in one piece, or parted by the ellipses that the answer has. */
export function find(comparison: Comparison, passage: PassageText, said: Place): Standing | undefined {
  const whole = findPiece(comparison, passage, said)
  if (whole !== undefined) return { kind: 'verbatim', place: whole }
  const fragments = fragmentsOf(comparison, said)
  if (fragments.length < 2) return undefined
  const places: Place[] = []
  for (const fragment of fragments) {
    const place = findPiece(comparison, passage, fragment, places.at(-1)?.to ?? 0)
    if (place === undefined || hidesDenial(passage, places.at(-1), place)) return undefined
    places.push(place)
  }
  const [first] = places
  const last = places.at(-1)
  return first === undefined || last === undefined ? undefined : { kind: 'elided', place: { from: first.from, to: last.to } }
}

function findPiece(comparison: Comparison, passage: PassageText, said: Place, after = 0): Place | undefined {
  const run = comparison.run(passage, said.from, said.to)
  if (run !== undefined && run.to === said.to) {
    const from = run.first >= after ? run.first : run.last
    const place = { from, to: from + said.to - said.from }
    return from >= after && !cutsSign(comparison, passage, said, place) ? place : undefined
  }
  const near = nearest(comparison, passage, said)
  if (near === undefined || near.said.from !== said.from || near.said.to !== said.to || near.source.from < after) return undefined
  const harmless = near.differences.every((difference) => isHarmless(comparison.answer, passage, difference))
  return harmless && !cutsSign(comparison, passage, said, near.source) ? near.source : undefined
}

/** `5` out of `-5`, `ready` out of `!ready`. */
function cutsSign({ answer }: Comparison, passage: PassageText, said: Place, { from }: Place): boolean {
  const before = from - 1
  if (passage.ends[before] !== passage.starts[from]) return false
  const [sign = ''] = foldedWords(passage, before, from)
  return (sign === '-' || sign === '!') && answer.ids[said.from - 1] !== passage.ids[before]
}

const ELLIPSIS = /…|\.{3}|\. \. \.|[[(]\s?\.{2,3}\s?[\])]/

/** Parts of a quotation between ellipses. */
function fragmentsOf({ answer }: Comparison, { from, to }: Place): Place[] {
  const fragments: Place[] = []
  let start = from
  for (let at = from + 1; at <= to; at++) {
    const gapEnd = Math.min(answer.starts[at] ?? 0, (answer.ends[at - 1] ?? 0) + 40)
    if (at === to || ELLIPSIS.test(answer.text.slice(answer.ends[at - 1], gapEnd))) {
      fragments.push({ from: start, to: at })
      start = at
    }
  }
  return fragments
}

/** Words that an ellipsis may leave out of a sentence unseen. */
const SHORT_GAP = 8

function hidesDenial(passage: PassageText, before: Place | undefined, { from }: Place): boolean {
  if (before === undefined || from - before.to > SHORT_GAP) return false
  const words = foldedWords(passage, before.to, from)
  const gap = passage.text.slice(passage.ends[before.to - 1], passage.starts[from])
  return !/[.!?。！？]\s|[。！？]/.test(gap) && words.some((_, at) => denialAt(words, at) === 'strong')
}

/** The words of the passage beside the longest run of a quotation. */
export function nearest(comparison: Comparison, passage: PassageText, said: Place): Alignment | undefined {
  const anchor = longest(runsOf(comparison, passage, said))
  if (anchor === undefined) return undefined
  const first = align(comparison.answer, passage, said, anchor)
  if (anchor.last === anchor.first) return first
  const last = align(comparison.answer, passage, said, { ...anchor, first: anchor.last })
  return agreement(last) > agreement(first) ? last : first
}

/** Words that agree. */
export function agreement({ said, differences }: Alignment): number {
  return differences.reduce((sum, difference) => sum - (difference.said.to - difference.said.from), said.to - said.from)
}

/** The fewest runs that a quotation is made of; words that the passage does not have are left out. */
function runsOf(comparison: Comparison, passage: PassageText, { from, to }: Place): Run[] {
  const runs: Run[] = []
  for (let at = from; at < to;) {
    const run = comparison.run(passage, at, to)
    if (run !== undefined) runs.push(run)
    at = run?.to ?? at + 1
  }
  return runs
}

function longest(runs: readonly Run[]): Run | undefined {
  return runs.reduce<Run | undefined>(
    (best, run) => (best === undefined || run.to - run.from > best.to - best.from ? run : best),
    undefined,
  )
}

/** Words of a piece that nobody writes by chance. */
const PIECE = 3
const PIECE_OF_CHARACTERS = 4
const MOST_OF_IT = 0.75

/** Whether a text is made of pieces of the passages that do not stand together. */
export function isStitched(comparison: Comparison, passages: readonly PassageText[], { from, to }: Place): boolean {
  const [word = ''] = foldedWords(comparison.answer, from, Math.min(to, from + 1))
  const least = isSingle(word) ? PIECE_OF_CHARACTERS : PIECE
  let pieces = 0
  let covered = 0
  for (let at = from; at < to;) {
    let end = at
    for (const passage of passages) end = Math.max(end, comparison.run(passage, at, to)?.to ?? at)
    if (end - at >= least) {
      pieces++
      covered += end - at
    }
    at = Math.max(end, at + 1)
  }
  return pieces >= 2 && covered >= MOST_OF_IT * (to - from)
}

/** What became of words that do not stand in a passage as they are quoted. */
export function describeDifference(comparison: Comparison, passage: PassageText, { said, source }: Difference): string {
  const quote = ({ text, starts, ends }: Comparison['answer'], { from, to }: Place): string => {
    const words = text.slice(starts[from], ends[to - 1]).replaceAll(/\s+/g, ' ')
    return `“${words.length > 80 ? `${words.slice(0, 79)}…` : words}”`
  }
  if (said.from === said.to) return `leaves out ${quote(passage, source)}`
  const added = quote(comparison.answer, said)
  return source.from === source.to ? `adds ${added}` : `says ${added} where the passage has ${quote(passage, source)}`
}
