/** Finds the part of a text that matches a query best. */

import { Analyzer } from '../text/analyzer.ts'

export interface Stretch {
  readonly start: number
  readonly end: number
}

interface Hit extends Stretch {
  readonly terms: readonly string[]
}

const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_'’.+#-]*/gu
const BEGINNING = /(?:^|\n|[.!?]\s)\s*/g

/** Returns the stretch of at most `length` characters with the most words of the query; the beginning where no word occurs. */
export function excerptOf(text: string, query: string, length: number): Stretch {
  const { first, last } = densest(hitsOf(text, query), length)
  if (last.end <= length) return { start: 0, end: Math.min(text.length, length) }
  const earliest = Math.max(0, last.end - length)
  const start = beginningBetween(text, earliest, first.start)
  return { start, end: Math.min(text.length, start + length) }
}

function hitsOf(text: string, query: string): Hit[] {
  const analyzer = new Analyzer()
  const wanted = new Set(analyzer.terms(query))
  const hits: Hit[] = []
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    const terms = analyzer.terms(word).filter((term) => wanted.has(term))
    if (terms.length > 0) hits.push({ start, end: start + word.length, terms })
  }
  return hits
}

/** Returns the range of hits, all within `length`, with the most different terms; of equal ranges the first. */
function densest(hits: readonly Hit[], length: number): { readonly first: Stretch; readonly last: Stretch } {
  let best: { first: Stretch; last: Stretch; terms: number } = { first: NOWHERE, last: NOWHERE, terms: 0 }
  for (const [from, first] of hits.entries()) {
    const terms = new Set<string>()
    let last = first
    for (let at = from; at < hits.length; at++) {
      const hit = hits[at] ?? first
      if (at > from && hit.end - first.start > length) break
      const before = terms.size
      for (const term of hit.terms) terms.add(term)
      if (terms.size > before) last = hit
    }
    if (terms.size > best.terms) best = { first, last, terms: terms.size }
  }
  return best
}

const NOWHERE: Stretch = { start: 0, end: 0 }

/** Returns the start of a sentence or line, else of a word, between `earliest` and `latest`. */
function beginningBetween(text: string, earliest: number, latest: number): number {
  const before = text.slice(0, latest)
  let beginning: number | undefined
  for (const match of before.matchAll(BEGINNING)) {
    const at = match.index + match[0].length
    if (at >= earliest) beginning = at
  }
  if (beginning !== undefined) return beginning
  const space = before.slice(earliest).search(/\s\S/)
  return space < 0 ? latest : earliest + space + 1
}
