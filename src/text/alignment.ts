/** Finds words of one text in another: exactly, or with few differences. */

import type { Range } from '../util/range.ts'
import { wordAt } from './comparable-words.ts'
import type { IndexedWords, Words } from './comparable-words.ts'

/** A range of word indexes, end exclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Most places of the rarest word that are tried, and most words of a quotation that are aligned; both bound the cost. */
const MOST_TRIED = 100
const MOST_ALIGNED = 80
/** Most words by which the place in the passage may be shifted against the place in the quotation. */
const BAND = 4

/** Returns the first place where the words are consecutive. @param after index of the first passage word to search. */
export function findExact(words: Words, span: Span, passage: IndexedWords, after = 0): Span | undefined {
  const length = span.to - span.from
  if (length <= 0) return undefined
  let rarest: { readonly at: number; readonly places: readonly number[] } | undefined
  for (let at = span.from; at < span.to && at < span.from + MOST_ALIGNED; at++) {
    // In a dense script the stem of the last character depends on the next character.
    const isLast = at === span.to - 1 && words.keys[at] !== undefined && length > 1
    const places = isLast ? undefined : passage.places.get(words.keys[at] ?? '')
    if (places === undefined && !isLast) {
      if (length > 1 || words.keys[at] === words.words[at]) return undefined
    }
    if (places !== undefined && (rarest === undefined || places.length < rarest.places.length)) rarest = { at, places }
  }
  if (rarest === undefined) return undefined
  let tried = 0
  for (const place of rarest.places) {
    const from = place - (rarest.at - span.from)
    if (from < after) continue
    if (++tried > MOST_TRIED) return undefined
    if (from + length <= passage.words.length && isEqual(words, span, passage, from)) return { from, to: from + length }
  }
  return undefined
}

function isEqual(words: Words, span: Span, passage: Words, from: number): boolean {
  for (let at = span.from; at < span.to; at++) if (words.words[at] !== passage.words[from + at - span.from]) return false
  return true
}

/** Differences between a text and the best matching place of a passage. */
export interface Alignment extends Span {
  /** Share of the words found there in the same order; 0 to 1. */
  readonly share: number
  /** Indexes of the words that only the answer, or only the passage, has. */
  readonly added: readonly number[]
  readonly missing: readonly number[]
}

/** Returns the place with the most words in the same order, within a band of the passage. */
export function findAlmost(words: Words, span: Span, passage: IndexedWords): Alignment | undefined {
  const to = Math.min(span.to, span.from + MOST_ALIGNED)
  const votes = new Map<number, number>()
  for (let at = span.from; at < to; at++) {
    const places = passage.places.get(words.keys[at] ?? '') ?? []
    if (places.length > MOST_TRIED) continue
    for (const place of places) {
      const first = Math.floor((place - (at - span.from)) / BAND)
      votes.set(first, (votes.get(first) ?? 0) + 1)
      votes.set(first + 1, (votes.get(first + 1) ?? 0) + 1)
    }
  }
  let best: number | undefined
  for (const [first, count] of votes) if (best === undefined || count > (votes.get(best) ?? 0)) best = first
  if (best === undefined) return undefined
  const from = Math.max(0, (best - 1) * BAND - BAND)
  return align(words, { from: span.from, to }, passage, {
    from,
    to: Math.min(passage.words.length, from + (to - span.from) + 4 * BAND),
  })
}

/** Aligns two spans by their longest common subsequence. */
function align(words: Words, span: Span, passage: Words, place: Span): Alignment | undefined {
  const [n, m] = [span.to - span.from, place.to - place.from]
  const length = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1))
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--) {
      const isSame = words.words[span.from + i] === passage.words[place.from + j]
      const [row, below] = [length[i], length[i + 1]]
      if (row !== undefined && below !== undefined)
        row[j] = isSame ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  const common = length[0]?.[0] ?? 0
  if (common === 0) return undefined
  const added: number[] = []
  let missing: number[] = []
  let [first, last] = [-1, -1]
  for (let i = 0, j = 0; i < n;) {
    if (j < m && words.words[span.from + i] === passage.words[place.from + j]) {
      if (first === -1) {
        first = place.from + j
        missing = []
      }
      last = place.from + j
      i++
      j++
    } else if (j < m && (length[i]?.[j + 1] ?? 0) >= (length[i + 1]?.[j] ?? 0)) missing.push(place.from + j++)
    else added.push(span.from + i++)
  }
  // Replaced words at either end are matched with as many words of the passage.
  const from = Math.max(place.from, first - added.filter((at, index) => at === span.from + index).length)
  const to = Math.min(place.to, last + 1 + added.filter((at, index) => at === span.to - added.length + index).length)
  const inside = missing.filter((at) => at > first && at < last)
  const outside = [...range(from, first), ...range(last + 1, to)]
  return { from, to, share: common / n, added, missing: [...inside, ...outside].sort((a, b) => a - b) }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at)
}

/** Splits a quotation at ellipses and at insertions in square brackets. */
export function piecesOf(words: Words, { from, to }: Span): Span[] {
  const pieces: Span[] = []
  let start = from
  for (let at = from + 1; at < to; at++) {
    const gap = words.text.slice(words.ends[at - 1], words.starts[at])
    if (!/…|\.\.\.|\]/.test(gap)) continue
    const bracket = words.text.lastIndexOf('[', words.starts[at])
    const end = gap.includes(']') && bracket >= (words.ends[start - 1] ?? 0) ? wordAt(words, bracket) : at
    if (end > start) pieces.push({ from: start, to: end })
    start = at
  }
  pieces.push({ from: start, to })
  return pieces
}

/** Most leading marks that belong to a quotation. */
const MOST_MARKS = 3
/** Returns a range of the passage with the full stop after it, and with the marks before it that the answer also has. */
export function rangeOf({ text, starts, ends }: Words, { from, to }: Span, said?: Words, saidFrom = 0): Range {
  const end = ends[to - 1] ?? 0
  const stop = /^[*_`]{0,3}[.!?…。！？]['"”’»」』)]?/u.exec(text.slice(end, end + 6))?.[0] ?? ''
  let start = starts[from] ?? 0
  const saidStart = said?.starts[saidFrom] ?? 0
  for (
    let back = 1;
    back <= MOST_MARKS && /["'“„«([`]/.test(text[start - 1] ?? '') && text[start - 1] === said?.text[saidStart - back];
    back++
  )
    start--
  return { start, end: end + stop.length }
}

const MOST_LISTED = 6

/** Lists words in quotation marks. */
export function listed({ text, starts, ends }: Words, at: readonly number[]): string {
  if (at.length === 0) return 'nothing'
  return `“${at
    .slice(0, MOST_LISTED)
    .map((index) => text.slice(starts[index], ends[index]))
    .join(' ')}”`
}
