/** Checks the citations of an answer: one verdict for each statement and marker. */

import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { languageOf } from '../text/language.ts'
import { readQuantities } from '../text/numbers.ts'
import { findExact } from './alignment.ts'
import { citationOf, withoutPassage } from './citation.ts'
import type { Finding } from './citation.ts'
import type { Claim, Mismatch } from './mismatch.ts'
import { Library, nearest } from './passages.ts'
import type { Passage } from './passages.ts'
import { quotedFinding } from './quotations.ts'
import { pairMismatch } from './pairs.ts'
import { cellMismatch } from './cells.ts'
import { quantityMismatch } from './quantities.ts'
import { polarityMismatch } from './polarity.ts'
import { nameMismatch } from './names.ts'
import { misplacedFinding } from './misplaced.ts'
import type { Range } from '../util/range.ts'
import { readStatements } from './statements.ts'
import type { Statement } from './statements.ts'
import { readWords, wordAt } from '../text/comparable-words.ts'
import { contentWeights } from './content.ts'

export interface CheckedAnswer {
  readonly citations: readonly Citation[]
  /** Statements that no marker speaks for. */
  readonly uncited: number
}

/** Windows that a statement is held against. */
const MOST_NEAR = 6

/** @param question whose words are context: a statement need not find them in its passage. */
export function checkAnswer(answer: string, passages: readonly Retrieved[], question = ''): CheckedAnswer {
  const read = readStatements(answer)
  const library = new Library(passages)
  const context = new Set(readWords(question).keys)
  const language = languageOf(answer)
  const citations: Citation[] = []
  const whole: Range[] = []
  const said = readWords(answer, read.markers)
  for (const statement of read.statements) {
    const cited = statement.markers.flatMap((marker) => library.passage(marker) ?? [])
    if (cited.some((passage) => isReference(answer, statement, passage.retrieved))) continue
    const span = (range: Range) => ({ from: wordAt(said, range.start), to: wordAt(said, range.end) })
    const isWhole = cited.some((passage) => findExact(said, span(statement.whole), passage) !== undefined)
    if (isWhole) whole.push(statement.whole)
    const extent = isWhole ? statement.whole : statement.sentence
    const claimRange = { start: Math.min(extent.start, statement.claim.start), end: statement.claim.end }
    let claim: Claim | undefined
    let contradiction: Mismatch | undefined | null = null
    for (const marker of statement.markers) {
      const passage = library.passage(marker)
      if (passage === undefined) {
        citations.push(withoutPassage(marker, claimRange))
        continue
      }
      let finding = quotedFinding({ said, statement, extent, passage, library })
      if (finding === undefined) {
        claim ??= readClaim(answer, extent, read.code, read.markers, cited, library, context, language)
        if (contradiction === null) contradiction = quantityMismatch(claim) ?? pairMismatch(claim) ?? cellMismatch(claim) ?? nameMismatch(claim) ?? polarityMismatch(claim)
        if (contradiction !== undefined) finding = contradicted(contradiction, passage)
        finding ??= misplacedFinding(claim, passage, library)
      }
      const near = claim?.near.find((candidate) => candidate.passage === passage)
      finding ??= { verdict: 'unverified', kind: 'paraphrase', range: near?.window ?? { start: 0, end: passage.text.length } }
      citations.push(citationOf(passage.retrieved, claimRange, finding))
    }
  }
  const uncited = read.uncited.filter((range) => !whole.some(({ start, end }) => start <= range.start && range.end <= end))
  return { citations, uncited: uncited.length }
}

/** A mismatch with another passage of the same statement is told at the marker of that one, and at this one with its nearest words. */
function contradicted({ kind, reason, passage, range }: Mismatch, cited: Passage): Finding {
  return { verdict: 'contradicted', kind, reason, range: passage === cited ? range : { start: 0, end: cited.text.length } }
}

function readClaim(
  answer: string,
  { start, end }: Range,
  code: readonly Range[],
  markers: readonly Range[],
  cited: readonly Passage[],
  library: Library,
  question: ReadonlySet<string>,
  answerLanguage: Claim['language'],
): Claim {
  const shift = (ranges: readonly Range[]): Range[] => ranges.filter((range) => range.end > start && range.start < end).map((range) => ({ start: range.start - start, end: range.end - start }))
  const text = answer.slice(start, end)
  const own = shift(code)
  const blank = (t: string, ranges: readonly Range[]): string => ranges.reduce((masked, range) => masked.slice(0, Math.max(0, range.start)) + ' '.repeat(Math.min(range.end, t.length) - Math.max(0, range.start)) + masked.slice(Math.min(range.end, t.length)), t)
  const words = readWords(text, shift(markers))
  const own2 = languageOf(text)
  const language = /[^\x00-\x7f]/.test(text) ? own2 : answerLanguage
  const weights = contentWeights(words, language, library)
  const near = cited.flatMap((passage) => nearest(passage, weights, MOST_NEAR)).sort((a, b) => b.share - a.share)
  return { ...words, language, measured: readQuantities(blank(blank(text, own), shift(markers)), language), code: own, weights, cited, near, question }
}

const LONGEST_REFERENCE = 600
const MOST_BESIDE_SOURCE = 40

/** A line of a list of sources: `[1] docs/mill.md`. */
function isReference(answer: string, { whole }: Statement, { chunk }: Retrieved): boolean {
  const text = answer
    .slice(whole.start, Math.min(whole.end, whole.start + LONGEST_REFERENCE))
    .replace(/^[\s:.\-–—*_`<(]+/, '')
    .replace(/[\s.,;:*_`>)]+$/, '')
  return text !== '' && (text === chunk.source || text === chunk.title || (text.includes(chunk.source) && text.length < chunk.source.length + MOST_BESIDE_SOURCE))
}
