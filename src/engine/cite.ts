/**
 * Reads the citations of an answer and checks each against the passage that it names.
 *
 * Quotations must stand in the passage word for word, save what typesetting changes and what an ellipsis says is left out. Other words may
 * be the model's own: then the passage must bear them out, as far as words can show. What does not hold is kept, flagged and explained.
 */

import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { pageAt } from '../core/store.ts'
import { citedPlace } from './citations/cited-place.ts'
import { readClaims } from './citations/claims.ts'
import type { Claim } from './citations/claims.ts'
import { compare } from './citations/comparison.ts'
import type { Comparison, Place, Words } from './citations/comparison.ts'
import { judgeQuotation, judgeStatement, sharesStatement } from './citations/judge.ts'
import type { Setting, Verdict } from './citations/judge.ts'
import { standsLiterally } from './citations/literal.ts'
import type { Range } from './citations/range.ts'

/** @param count is told how many steps it took, which grows with the lengths of answer and passages. */
export function readCitations(
  answer: string,
  passages: readonly Retrieved[],
  count: (steps: number) => void = () => {},
): Citation[] {
  const citations = new Map<string, Citation>()
  for (const citation of citationsIn(answer, passages, count)) {
    const key = `${citation.marker}:${citation.start}:${citation.end}:${citation.quote}`
    // Said twice of the same words: what was flagged once stays flagged.
    if (!citations.has(key) || !citation.supported) citations.set(key, citation)
  }
  return [...citations.values()]
}

function* citationsIn(answer: string, passages: readonly Retrieved[], count: (steps: number) => void): Generator<Citation> {
  const { claims, markers } = readClaims(answer)
  const byMarker = new Map(passages.map((passage) => [passage.marker, passage]))
  // Made when it is needed: most quotations are found without it.
  let comparison: Comparison | undefined
  let steps = 0
  for (const [index, claim] of claims.entries()) {
    const beside = [claims[index - 1], claims[index + 1]].flatMap((other) => other?.markers ?? [])
    for (const marker of claim.markers) {
      const retrieved = byMarker.get(marker)
      if (retrieved === undefined) {
        yield withoutPassage(marker, said(answer, claim.statement))
        continue
      }
      if (isReference(answer, claim, retrieved)) continue
      const words = said(answer, claim.whole)
      steps += words.length
      const place = standsLiterally(words, retrieved.chunk.text)
      if (place !== undefined) {
        yield cited(answer, claim.whole, retrieved, { kind: 'verbatim', supported: true, place })
        continue
      }
      comparison ??= compare(answer, markers, passages)
      const passage = comparison.passage(marker)
      if (passage === undefined) continue
      const others = comparison.markers.filter((other) => other !== marker)
      for (const { range, verdict } of verdictsOf(claim, { comparison, passage, others, beside }))
        yield cited(answer, range, retrieved, verdict)
    }
  }
  count(steps + (comparison?.steps() ?? 0))
}

function withoutPassage(marker: string, quote: string): Citation {
  const reason = 'there is no passage of this number'
  return { marker, chunkId: '', source: '', start: 0, end: 0, quote, supported: false, kind: 'no-passage', reason }
}

interface Judged {
  readonly range: Range
  readonly verdict: Verdict
}

/** What one marker claims: the words before it as they stand, each quotation in them, or else the statement. */
function verdictsOf(claim: Claim, setting: Setting): Judged[] {
  const { whole, statement, quotations, markers } = claim
  const { comparison } = setting
  const size = ({ from, to }: Place): number => to - from
  const asItStands = judgeQuotation({ ...setting, others: [], beside: [] }, whole)
  if (asItStands.kind === 'verbatim') return [{ range: whole, verdict: asItStands }]
  const quoted = quotations.filter((range) => isQuotation(comparison.answer, comparison.wordsIn(range)))
  const judged: Judged[] = quoted.map((range) => ({ range, verdict: judgeQuotation(setting, range) }))
  const inQuotes = quoted.reduce((sum, range) => sum + size(comparison.wordsIn(overlap(range, statement))), 0)
  const around = size(comparison.wordsIn(statement)) - inQuotes
  // What only introduces a quotation claims nothing.
  if (quoted.length > 0 && (inQuotes > 0 || around === 0)) {
    const verdict = judged.every(({ verdict }) => verdict.supported) ? frameProblem(setting, statement, quoted) : undefined
    return verdict === undefined ? judged : [...judged, { range: statement, verdict }]
  }
  const verdict = judgeStatement(setting, statement)
  // Several markers may bear a statement out together.
  if (!verdict.supported && markers.length > 1 && verdict.kind !== 'edited') {
    const together = sharesStatement(setting, statement, markers)
    if (together !== undefined) return [...judged, { range: statement, verdict: together }]
  }
  return [...judged, { range: statement, verdict }]
}

function overlap(a: Range, b: Range): Range {
  const start = Math.max(a.start, b.start)
  return { start, end: Math.max(start, Math.min(a.end, b.end)) }
}

/** Shorter ones are names and terms. */
const WORDS_OF_QUOTATION = 3
const CHARACTERS_OF_QUOTATION = 4

function isQuotation({ text, starts, ends }: Words, { from, to }: Place): boolean {
  const isDense =
    to > from && /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}]/u.test(text.slice(starts[from], ends[from]))
  return to - from >= (isDense ? CHARACTERS_OF_QUOTATION : WORDS_OF_QUOTATION)
}

/** A number beside the quotations that the passage does not have. */
function frameProblem({ comparison, passage }: Setting, statement: Range, quoted: readonly Range[]): Verdict | undefined {
  const { from, to } = comparison.wordsIn(statement)
  const inside = quoted.map((range) => comparison.wordsIn(range))
  const { text, starts, ends } = comparison.answer
  let next = 0
  for (let at = from; at < to; at++) {
    while ((inside[next]?.to ?? Infinity) <= at) next++
    if ((inside[next]?.from ?? Infinity) <= at) continue
    const word = text.slice(starts[at], ends[at])
    if (!/^\d{2,}/.test(word) || comparison.run(passage, at, at + 1) !== undefined) continue
    if (`${passage.retrieved.chunk.title ?? ''} ${passage.retrieved.chunk.source}`.includes(word)) continue
    return { kind: 'unfounded', supported: false, reason: `“${word}” is not in the passage` }
  }
  return undefined
}

/** UTF-16 units; paths and titles are shorter. A bound on the cost. */
const LONGEST_REFERENCE = 600
/** UTF-16 units beside the path that say no more than where: `page 12 of`, `lines 3-9`. */
const MOST_BESIDE_SOURCE = 40

/** A line of a list of sources: `[1] docs/mill.md`. */
function isReference(answer: string, { whole }: Claim, { chunk }: Retrieved): boolean {
  const text = answer
    .slice(whole.start, Math.min(whole.end, whole.start + LONGEST_REFERENCE))
    .replace(/^[\s:.\-–—*_`<(]+/, '')
    .replace(/[\s.,;:*_`>)]+$/, '')
  return (
    text !== '' &&
    (text === chunk.source ||
      text === chunk.title ||
      (text.includes(chunk.source) && text.length < chunk.source.length + MOST_BESIDE_SOURCE))
  )
}

function cited(answer: string, range: Range, { marker, chunk, alsoIn }: Retrieved, verdict: Verdict): Citation {
  const { kind, supported, reason, foundIn, place } = verdict
  const at = supported && place !== undefined ? citedPlace(chunk.text, place, answer, range) : undefined
  return {
    marker,
    chunkId: chunk.id,
    source: chunk.source,
    start: chunk.start + (at?.start ?? 0),
    end: at === undefined ? chunk.end : chunk.start + at.end,
    quote: at === undefined ? said(answer, range) : chunk.text.slice(at.start, at.end),
    supported,
    ...linesOf(chunk, at),
    ...pageOf(chunk, at),
    kind,
    ...(reason === undefined ? {} : { reason }),
    ...(foundIn === undefined ? {} : { foundIn }),
    ...(alsoIn === undefined ? {} : { alsoIn }),
  }
}

function linesOf(chunk: Retrieved['chunk'], range: Range | undefined): { lines?: readonly [number, number] } {
  if (chunk.lines === undefined) return {}
  if (range === undefined) return { lines: chunk.lines }
  const first = chunk.lines[0] + countLines(chunk.text.slice(0, range.start))
  return { lines: [first, first + countLines(chunk.text.slice(range.start, range.end))] }
}

function pageOf(chunk: Retrieved['chunk'], range: Range | undefined): { page?: number } {
  const page = pageAt(chunk, range?.start)
  return page === undefined ? {} : { page }
}

function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1
}

/** Words of the answer without list bullets, quote signs and emphasis. */
function said(answer: string, { start, end }: Range): string {
  return answer
    .slice(start, end)
    .trim()
    .replace(/^(?:[.!?,;:。，]+\s+)?(?:>\s*|[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*/, '')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/^(`{1,10})([^`]+)\1$/, '$2')
    .trim()
}
