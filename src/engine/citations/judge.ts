/** What becomes of a quotation or statement: the kinds of `Citation`, in the order in which they are tried. */

import type { CitationKind } from '../../core/citation.ts'
import { changedEnds, isHarmless } from './alignment.ts'
import type { Alignment } from './alignment.ts'
import { changedWord } from './changed-word.ts'
import type { Range } from './range.ts'
import { foldedWords } from './comparison.ts'
import type { Comparison, PassageText, Place } from './comparison.ts'
import { denialAt } from './lexicon.ts'
import { agreement, describeDifference, find, isStitched, nearest } from './quotation.ts'
import type { Standing } from './quotation.ts'
import { supportOf } from './statement.ts'

export interface Verdict {
  readonly kind: CitationKind
  readonly supported: boolean
  /** UTF-16 range of the passage, where it is supported. */
  readonly place?: Range
  readonly reason?: string
  readonly foundIn?: string
}

export interface Setting {
  readonly comparison: Comparison
  readonly passage: PassageText
  /** Markers of the other passages. */
  readonly others: readonly string[]
  /** Markers before and after this one in the answer. */
  readonly beside: readonly string[]
}

// What other values of these numbers do to the made citations is in docs/citations.md.

/** Share of its words that agree with one place, for a quotation to count as changed and not as made up: below, more is new than is old. */
const RECOGNISED = 0.5
/** From this share on a text is one place with a few words changed, though it could be put together from pieces of several. */
const NEARLY_ALL = 0.8
/** From this share on a statement is a copy and is held to its words: as own words it would pass with one of them exchanged. */
const COPIED = 0.7
/** Fewer words agree by chance, or because there is no other way to say it. */
const SHORTEST_COPY = 5
/** Words before a quotation among which the answer may deny it: `it does not, as some say, “start by itself”`. */
const REACH_BEFORE_QUOTATION = 6
/** Words before a place among which the passage may deny it; those of a longer clause say what else is denied. */
const REACH_BEFORE_PLACE = 3
/** UTF-16 units between two passages of a source that still touch: a heading or a blank line that belongs to neither. */
const TOUCHING = 200

/** What was quoted. */
export function judgeQuotation(setting: Setting, range: Range): Verdict {
  const { comparison, passage } = setting
  const said = comparison.wordsIn(range)
  if (said.from === said.to) return UNCHECKABLE
  const standing = find(comparison, passage, said)
  if (standing !== undefined) {
    const denied = deniedBefore(passage, standing.place)
    const isPart = !startsSentence(comparison, said) || isDenied(comparison, said)
    return denied === undefined || isPart ? supported(passage, standing) : leavesOut(denied)
  }
  const elsewhere = findElsewhere(setting, (other) => find(comparison, other, said) !== undefined)
  if (elsewhere !== undefined) return elsewhere
  const near = nearest(comparison, passage, said)
  const share = near === undefined ? 0 : agreement(near) / (said.to - said.from)
  if (share < NEARLY_ALL && isStitched(comparison, allPassages(setting), said)) return STITCHED
  if (near !== undefined && share >= RECOGNISED) return edited(comparison, passage, said, near)
  return { kind: 'invented', supported: false, reason: 'no passage has these words' }
}

const UNCHECKABLE: Verdict = { kind: 'uncheckable', supported: false, reason: 'there are no words to check' }
const STITCHED: Verdict = { kind: 'stitched', supported: false, reason: 'put together from places that do not stand together' }

function leavesOut(word: string): Verdict {
  return { kind: 'edited', supported: false, reason: `leaves out “${word}”` }
}

/** It is given as a sentence, and not as a few words of one. */
function startsSentence({ answer: { text, starts } }: Comparison, { from }: Place): boolean {
  return /^[\p{Lu}\p{Lo}]/u.test(text.slice(starts[from], (starts[from] ?? 0) + 2))
}

/** The answer denies the quotation itself: it does not “start by itself”. */
function isDenied({ answer }: Comparison, { from }: Place): boolean {
  const words = foldedWords(answer, Math.max(0, from - REACH_BEFORE_QUOTATION), from)
  return words.some((_, at) => denialAt(words, at) === 'strong')
}

function supported(passage: PassageText, { kind, place }: Standing): Verdict {
  return { kind, supported: true, place: textRange(passage, place) }
}

function textRange({ starts, ends }: PassageText, { from, to }: Place): Range {
  return { start: starts[from] ?? 0, end: ends[to - 1] ?? 0 }
}

/**
 * Words of a whole answer, each counted once for every passage that is searched for what another one does not bear out: a bound on the
 * cost, beyond thirty long sentences that are wrong about twenty passages. Past it they are flagged as well, and not told where they stand.
 */
const MOST_SEARCHED = 20_000
const searches = new WeakMap<Comparison, number>()

/** What was said without quotation marks. */
export function judgeStatement(setting: Setting, range: Range): Verdict {
  const { comparison, passage } = setting
  const said = comparison.wordsIn(range)
  if (said.from === said.to) return UNCHECKABLE
  const own = borneOut(comparison, passage, said)
  if (own.supported) return own
  const searched = searches.get(comparison) ?? 0
  if (searched > MOST_SEARCHED) return own
  searches.set(comparison, searched + setting.others.length * (said.to - said.from))
  const elsewhere = findElsewhere(setting, (other) => borneOut(comparison, other, said).supported)
  return elsewhere ?? own
}

function borneOut(comparison: Comparison, passage: PassageText, said: Place): Verdict {
  const standing = find(comparison, passage, said)
  if (standing !== undefined) {
    const denied = deniedBefore(passage, standing.place)
    return denied === undefined ? supported(passage, standing) : leavesOut(denied)
  }
  const near = nearest(comparison, passage, said)
  const share = near === undefined ? 0 : agreement(near) / (said.to - said.from)
  if (near !== undefined && share >= COPIED && said.to - said.from >= SHORTEST_COPY) {
    const problem = changedWord(comparison, passage, said, near)
    if (problem !== undefined) return { kind: 'edited', supported: false, reason: problem }
  }
  if (share < NEARLY_ALL && isRunTogether(comparison, passage, said)) return STITCHED
  const support = supportOf(comparison, passage, said)
  if (support.supported) return { kind: 'paraphrase', supported: true, place: textRange(passage, support.place) }
  return { kind: share >= COPIED ? 'edited' : 'unfounded', supported: false, reason: support.reason }
}

/** A statement that is nothing but pieces of the passage, put side by side without a joint. */
function isRunTogether(comparison: Comparison, passage: PassageText, said: Place): boolean {
  if (!isStitched(comparison, [passage], said)) return false
  const { text, starts, ends } = comparison.answer
  let pieces = 0
  for (let at = said.from; at < said.to;) {
    const run = comparison.run(passage, at, said.to)
    // What a table has side by side, sentences put together.
    if (run === undefined || passage.places()[passage.placeAt(run.first)]?.row !== undefined) return false
    const gap = text.slice(ends[at - 1], starts[at])
    if (pieces > 0 && /[,;:.–—]/.test(gap)) return false
    if (run.to - run.from < 2) return false
    pieces++
    at = run.to
  }
  return pieces === 2
}

/** A denial just before the words, in their own clause: they stand there, and say the opposite. */
function deniedBefore(passage: PassageText, { from }: Place): string | undefined {
  const first = Math.max(0, from - REACH_BEFORE_PLACE)
  const words = foldedWords(passage, first, from + 1)
  for (let at = words.length - 2; at >= 0; at--) {
    const gap = passage.text.slice(passage.ends[first + at], passage.starts[first + at + 1])
    if (/[,;:()–—.!?，；。！？\n|\t]/.test(gap)) return undefined
    if (denialAt(words, at) === 'strong') return words[at]
  }
  return undefined
}

/** Several passages together bear a statement out when each of its parts is borne out by one of them. */
export function sharesStatement({ comparison, passage }: Setting, range: Range, markers: readonly string[]): Verdict | undefined {
  const parts = partsOf(comparison.answer.text, range).map((part) => comparison.wordsIn(part))
  if (parts.length < 2) return undefined
  const together = markers.flatMap((marker) => comparison.passage(marker) ?? [])
  let own: Verdict | undefined
  for (const part of parts) {
    const verdicts = together.map((other) => ({ other, verdict: borneOut(comparison, other, part) }))
    if (!verdicts.some(({ verdict }) => verdict.supported)) return undefined
    own ??= verdicts.find(({ other, verdict }) => other === passage && verdict.supported)?.verdict
  }
  return own === undefined ? undefined : { ...own, kind: 'paraphrase' }
}

function partsOf(text: string, { start, end }: Range): Range[] {
  const parts: Range[] = []
  let from = start
  for (const { index, 0: joint } of text
    .slice(start, end)
    .matchAll(/[,;:–—，；]\s*|\s(?:and|but|while|whereas|und|aber|während|et|mais|y|pero)\s/g)) {
    parts.push({ start: from, end: start + index })
    from = start + index + joint.length
  }
  parts.push({ start: from, end })
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(text.slice(part.start, part.end)))
}

function findElsewhere(
  { comparison, passage, others, beside }: Setting,
  holds: (other: PassageText) => boolean,
): Verdict | undefined {
  for (const marker of others) {
    const other = comparison.passage(marker)
    if (other === undefined || other.retrieved.chunk.id === passage.retrieved.chunk.id || !holds(other)) continue
    const isShifted = beside.includes(marker) || areNeighbours(other, passage)
    return {
      kind: isShifted ? 'shifted' : 'misattributed',
      supported: false,
      reason: `stands in [${marker}], not here`,
      foundIn: marker,
    }
  }
  return undefined
}

function areNeighbours({ retrieved: { chunk: a } }: PassageText, { retrieved: { chunk: b } }: PassageText): boolean {
  return a.source === b.source && Math.max(a.start, b.start) - Math.min(a.end, b.end) <= TOUCHING
}

function allPassages({ comparison, passage, others }: Setting): PassageText[] {
  return [passage, ...others.flatMap((marker) => comparison.passage(marker) ?? [])]
}

function edited(comparison: Comparison, passage: PassageText, said: Place, near: Alignment): Verdict {
  const all = [...near.differences, ...changedEnds(comparison.answer, passage, said, near)]
  const change = all.find((difference) => !isHarmless(comparison.answer, passage, difference))
  const reason = change === undefined ? 'only a part of it stands there' : describeDifference(comparison, passage, change)
  return { kind: 'edited', supported: false, reason }
}
