/** Cuts what has no borders of its own: a sentence, a line or a word that is longer than a chunk may be. */

import { isWhiteSpace } from '../../util/lines.ts'
import { trimRange } from './atom.ts'
import type { Atom } from './atom.ts'
import type { Range } from '../../util/range.ts'

/** A place is looked for in the last part of the window, so that pieces are at least half full. */
const SEARCHED_SHARE = 0.5
const CLAUSE_ENDS = ',;:)]}、，；：）」』】'
/** A cluster longer than this (hundreds of combining marks on one letter) is cut between code points. */
const CLUSTER_WINDOW = 128

let graphemes: Intl.Segmenter | undefined

/** Pieces of at most `max` UTF-16 units: cut at the end of a line, else of a clause, else of a word, else of a grapheme cluster. */
export function* cutRange(text: string, start: number, end: number, max: number): Generator<Range> {
  for (let rest = trimRange(text, start, end); rest !== undefined;) {
    const to = rest.end - rest.start <= max ? rest.end : lastGoodCut(text, rest.start, rest.start + max)
    const piece = trimRange(text, rest.start, to)
    if (piece !== undefined) yield piece
    rest = trimRange(text, to, rest.end)
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

/** The last border between grapheme clusters at or before `limit`. */
function graphemeCut(text: string, from: number, limit: number): number {
  // Between two plain ASCII characters there is a border; that is what long unbroken runs are made of.
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

/** A heading as one atom; one that is longer than a chunk in several. */
export function* headingAtoms(text: string, range: Range, border: number, path: readonly string[], max: number): Generator<Atom> {
  for (const part of cutRange(text, range.start, range.end, max)) yield { ...part, border, path, isHeading: true }
}

/** What is left of a chunk that begins with headings of this length; headings that fill half a chunk get no consideration. */
export function room(max: number, prefix: number): number {
  return prefix < max / 2 ? max - prefix : max
}
