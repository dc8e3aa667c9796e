/**
 * Atoms: ranges of a document that chunks do not split further, in order, with only white space between them. Each atom rates the place before
 * it as a cut, so that packing does not depend on the format.
 */

import { sentenceEnds } from '../../text/sentences.ts'
import { isWhiteSpace, linesOf } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'

/** A text and the options for cutting it. */
export interface Cutting {
  readonly text: string
  readonly lineBreak: string
  /** Longest chunk, in UTF-16 units. */
  readonly max: number
}

export interface Atom {
  readonly start: number
  readonly end: number
  /** Rates a cut before this atom; one of `BORDER`. */
  readonly border: number
  /** Headings, enclosing definitions or keys above the atom, outermost first. */
  readonly path: readonly string[]
  /** Set for headings, which are kept with the text that follows. */
  readonly isHeading?: boolean
}

/** On the scale of the share of a chunk that is filled: a border that is .5 better justifies a chunk that is half as full. */
export const BORDER = {
  /** Only as a last resort: between a heading and its text. */
  never: -8,
  /** Inside an overlong sentence or line. */
  weak: 0,
  sentence: 0.25,
  line: 0.45,
  item: 0.7,
  paragraph: 0.95,
  block: 1.2,
  /** At this value and above, a chunk is cut unless it is small. */
  section: 8,
} as const

/** Most characters of indentation kept before the first character of an atom. */
const MAX_INDENT = 64

/** Trims white space around a range; keeps the indentation of its first line, which has meaning in code and lists. */
export function trimRange(text: string, start: number, end: number): Range | undefined {
  let first = start
  while (first < end && isWhiteSpace(text, first)) first++
  if (first === end) return undefined
  let last = end
  while (isWhiteSpace(text, last - 1)) last--
  let lineStart = first
  while (lineStart > start && first - lineStart < MAX_INDENT && ' \t'.includes(text.charAt(lineStart - 1))) lineStart--
  const atLineStart = lineStart === 0 || '\n\r'.includes(text.charAt(lineStart - 1))
  return { start: atLineStart ? lineStart : first, end: last }
}

/** Looks for a cut in the last part of the window only, so that pieces are at least half full. */
const SEARCHED_SHARE = 0.5
const CLAUSE_ENDS = ',;:)]}、，；：）」』】'
/** A longer cluster (hundreds of combining marks on one letter) is cut between code points. */
const CLUSTER_WINDOW = 128

let graphemes: Intl.Segmenter | undefined

/** Yields pieces of at most `max` UTF-16 units: cut at the end of a line, else of a clause, else of a word, else of a grapheme cluster. */
export function* cutRange({ text, max }: Cutting, start: number, end: number): Generator<Range> {
  for (let rest = trimRange(text, start, end); rest !== undefined;) {
    const to = rest.end - rest.start <= max ? rest.end : lastGoodCut(text, rest.start, rest.start + max)
    const piece = trimRange(text, rest.start, to)
    if (piece !== undefined) yield piece
    rest = trimRange(text, to, rest.end)
  }
}

/** Yields the pieces of a range as atoms; only the first gets the given border. */
export function* piecesOf(cutting: Cutting, { start, end }: Range, atom: Pick<Atom, 'border' | 'path'>): Generator<Atom> {
  let { border } = atom
  for (const range of cutRange(cutting, start, end)) {
    yield { ...range, ...atom, border }
    border = BORDER.weak
  }
}

function lastGoodCut(text: string, from: number, limit: number): number {
  const floor = from + Math.floor((limit - from) * SEARCHED_SHARE)
  let clause = -1
  let word = -1
  for (let at = limit; at > floor; at--) {
    const before = text.charCodeAt(at - 1)
    if (before === 0x0a || before === 0x0d) return at
    if (word === -1 && isWhiteSpace(text, at)) word = at
    if (clause === -1 && CLAUSE_ENDS.includes(text.charAt(at - 1)) && (before > 0x2fff || isWhiteSpace(text, at))) clause = at
  }
  if (clause !== -1) return clause
  return word === -1 ? graphemeCut(text, from, limit) : word
}

/** Returns the last border between grapheme clusters at or before `limit`. */
function graphemeCut(text: string, from: number, limit: number): number {
  // Two plain ASCII characters always have a border between them; long unbroken runs mostly consist of those.
  if (text.charCodeAt(limit - 1) < 0x80 && text.charCodeAt(limit) < 0x80) return limit
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  const segments = graphemes.segment(text.slice(from, limit + CLUSTER_WINDOW))
  const cluster = segments.containing(limit - from)
  const at = cluster === undefined ? limit : from + cluster.index
  if (at > from) return at
  const splitsPair = isLowSurrogate(text.charCodeAt(limit)) && isHighSurrogate(text.charCodeAt(limit - 1))
  return splitsPair && limit - 1 > from ? limit - 1 : limit
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** Yields a heading as one atom, or as several if it is longer than a chunk. */
export function* headingAtoms(cutting: Cutting, { start, end }: Range, border: number, path: Atom['path']): Generator<Atom> {
  for (const part of cutRange(cutting, start, end)) yield { ...part, border, path, isHeading: true }
}

/** Returns the cutting with the room left in a chunk after headings of this length. Headings that fill half a chunk are ignored. */
export function room(cutting: Cutting, prefix: number): Cutting {
  return prefix < cutting.max / 2 ? { ...cutting, max: cutting.max - prefix } : cutting
}

/** Shorter sentences are joined with the previous one, which bounds the number of atoms. */
const TINY = 60
/** Hard-wrapped lines are shorter than this, so a break after a longer line is intentional. */
const LONGEST_WRAPPED_LINE = 160

/** Yields a paragraph as one atom where it fits, else its sentences and intentional line breaks. */
export function* proseAtoms(cutting: Cutting, range: Range, { border, path }: Pick<Atom, 'border' | 'path'>): Generator<Atom> {
  const { text, max } = cutting
  const whole = trimRange(text, range.start, range.end)
  if (whole === undefined) return
  if (whole.end - whole.start <= max) {
    yield { ...whole, border, path }
    return
  }
  let before = border
  let from = whole.start
  for (const { at, border: next } of borders(cutting, whole)) {
    if (at - from < TINY && at < whole.end) continue
    yield* piecesOf(cutting, { start: from, end: at }, { border: before, path })
    from = at
    before = next
  }
}

/** Yields ends of sentences and intentional line ends in order; the end of the range comes last. */
function* borders(cutting: Cutting, range: Range): Generator<{ at: number; border: number }> {
  const breaks = meantLineEnds(cutting, range)
  let at = 0
  for (const sentence of sentenceEnds(cutting.text, range.start, range.end)) {
    for (; (breaks[at] ?? Infinity) <= sentence; at++) yield { at: breaks[at] ?? sentence, border: BORDER.line }
    yield { at: sentence, border: BORDER.sentence }
  }
  for (const lineEnd of breaks.slice(at)) yield { at: lineEnd, border: BORDER.line }
  yield { at: range.end, border: BORDER.weak }
}

/**
 * Finds intentional line breaks, as in verse, lists and logs: the first word of the next line would have fitted, or the line is too long to be
 * hard-wrapped. If most breaks are intentional, each line counts as a record, and all breaks are returned.
 */
function meantLineEnds({ text, lineBreak }: Cutting, { start, end }: Range): readonly number[] {
  const lines = [...linesOf(text, start, end, lineBreak)].filter(({ next }) => next < end)
  const width = wrapWidth(lines)
  const meant = lines.filter((line) => {
    const length = line.end - line.start
    const firstWord = /^\s*\S{0,80}/.exec(text.slice(line.next, Math.min(end, line.next + 160)))?.[0].length ?? 0
    return length > LONGEST_WRAPPED_LINE || length + 1 + firstWord <= width
  })
  return (meant.length <= lines.length / 2 ? meant : lines).map((line) => line.end)
}

/** Returns the length that nine of ten lines do not exceed, so that a long address in wrapped prose is ignored. */
function wrapWidth(lines: readonly Range[]): number {
  const lengths = Uint32Array.from(lines, ({ start, end }) => Math.min(LONGEST_WRAPPED_LINE, end - start)).sort()
  return lengths[Math.ceil(lines.length * 0.9) - 1] ?? 0
}
