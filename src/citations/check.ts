/**
 * Checks the citations of an answer: one verdict for each statement and marker, by comparing words and, on request, by a judge.
 *
 * A statement is verified when its passage contains it word for word, and contradicted when a specific mismatch is found. All others are
 * unverified, because comparing words cannot establish meaning. A model or a function may judge those. Its verdict counts only if a cited passage
 * contains the evidence.
 */

import type { Citation, ClaimToVerify, ClaimVerdict, Verdict } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { findExact } from '../text/alignment.ts'
import { isDense, readWords, wordAt } from '../text/comparable-words.ts'
import type { Words } from '../text/comparable-words.ts'
import { languageOf } from '../text/function-words.ts'
import type { Language } from '../text/function-words.ts'
import { readQuantities } from '../text/numbers.ts'
import { masked } from '../text/quoted-ranges.ts'
import type { Range } from '../util/range.ts'
import { cellMismatch } from './cells.ts'
import { citationOf, withoutPassage } from './citation.ts'
import type { Finding } from './citation.ts'
import { Library, nearest, readPassage } from './passages.ts'
import type { Claim, Mismatch, Passage } from './passages.ts'
import { quantityMismatch } from './quantities.ts'
import { quotedFinding } from './quotations.ts'
import { readStatements } from './statements.ts'
import type { ReadAnswer, Statement } from './statements.ts'
import { nameMismatch, polarityMismatch } from './wording.ts'

export interface CheckedAnswer {
  readonly citations: readonly Citation[]
  /** Number of statements without a marker. */
  readonly uncited: number
}

export interface CheckOptions {
  /** The question; its words are context that a passage need not contain. */
  readonly question?: string
  /** `false` reads and locates citations, and compares nothing. Default true. */
  readonly compares?: boolean
}

/** Most windows that a statement is compared with. */
const MOST_NEAR = 6
/** Most words of a statement that is compared in full; of a longer one only the numbers are. Bounds the cost. */
const LONGEST_STATEMENT = 300
const MISMATCHES = [quantityMismatch, cellMismatch, nameMismatch, polarityMismatch]

/** Takes time linear in the lengths of answer and passages, for any input. */
export function checkAnswer(answer: string, passages: readonly Retrieved[], options: CheckOptions = {}): CheckedAnswer {
  const read = readStatements(answer)
  const check = new Check(answer, read, new Library(passages), options)
  const citations = read.statements.flatMap((statement) => check.citationsOf(statement))
  const uncited = read.uncited.filter(
    (range) => !check.verbatim.some(({ start, end }) => start <= range.start && range.end <= end),
  )
  return { citations, uncited: uncited.length }
}

class Check {
  /** Ranges of several sentences before one marker that its passage contains unchanged. */
  readonly verbatim: Range[] = []
  readonly #answer: string
  readonly #read: ReadAnswer
  readonly #library: Library
  readonly #words: Words
  readonly #language: Language
  readonly #question: ReadonlySet<string>
  readonly #compares: boolean

  constructor(answer: string, read: ReadAnswer, library: Library, { question = '', compares = true }: CheckOptions) {
    this.#answer = answer
    this.#read = read
    this.#library = library
    this.#words = readWords(answer, read.markers)
    this.#language = languageOf(answer)
    this.#question = new Set(readWords(question).keys)
    this.#compares = compares
  }

  citationsOf(statement: Statement): Citation[] {
    const cited = statement.markers.flatMap((marker) => this.#library.passage(marker) ?? [])
    if (cited.some(({ retrieved }) => isReference(this.#answer, statement, retrieved))) return []
    const extent = this.#extentOf(statement, cited)
    const place = { start: Math.min(extent.start, statement.claim.start), end: statement.claim.end }
    let claim: Claim | undefined
    let mismatch: Mismatch | undefined
    const findingIn = (passage: Passage): Finding => {
      const whole = { start: 0, end: passage.text.length }
      if (!this.#compares) return { verdict: 'unverified', kind: 'unchecked', range: whole }
      const quoted = quotedFinding({ said: this.#words, statement, extent, passage, library: this.#library })
      if (quoted !== undefined) return quoted
      if (claim === undefined) {
        const own = (claim = this.#claimOf(extent, cited))
        const kinds = own.words.length > LONGEST_STATEMENT ? [quantityMismatch] : MISMATCHES
        for (const mismatchOf of kinds) mismatch ??= mismatchOf(own)
      }
      const near = claim.near.find((candidate) => candidate.passage === passage)?.window ?? whole
      const nearRange = { start: near.start, end: near.end }
      if (mismatch !== undefined) return contradiction(mismatch, passage, nearRange)
      return misplacedFinding(claim, passage, this.#library) ?? { verdict: 'unverified', kind: 'paraphrase', range: nearRange }
    }
    return statement.markers.map((marker) => {
      const passage = this.#library.passage(marker)
      return passage === undefined ? withoutPassage(marker, place) : citationOf(passage.retrieved, place, findingIn(passage))
    })
  }

  /** Returns all words back to the previous marker if a passage contains them unchanged; else the last sentence. */
  #extentOf({ whole, sentence }: Statement, cited: readonly Passage[]): Range {
    const span = { from: wordAt(this.#words, whole.start), to: wordAt(this.#words, whole.end) }
    if (!this.#compares || cited.every((passage) => findExact(this.#words, span, passage) === undefined)) return sentence
    this.verbatim.push(whole)
    return whole
  }

  #claimOf({ start, end }: Range, cited: readonly Passage[]): Claim {
    const text = this.#answer.slice(start, end)
    const inside = (ranges: readonly Range[]): Range[] =>
      ranges
        .filter((range) => range.end > start && range.start < end)
        .map((range) => ({ start: Math.max(0, range.start - start), end: Math.min(end, range.end) - start }))
    const [code, markers] = [inside(this.#read.code), inside(this.#read.markers)]
    const words = readWords(text, markers)
    // A sentence in Latin letters is too short to identify its language among those with Latin letters.
    const language = /[^\0-\u024f\u2000-\u206f]/.test(text) ? languageOf(text) : this.#language
    const weights = this.#library.weigh(words, language)
    return {
      ...words,
      language,
      measured: readQuantities(masked(masked(text, code), markers, ' '), language),
      code,
      weights,
      cited,
      near: cited.flatMap((passage) => nearest(passage, weights, MOST_NEAR)).sort((a, b) => b.share - a.share),
      question: this.#question,
    }
  }
}

/** Builds a contradicted finding. If the mismatch is with another passage of the statement, the range is the nearest place of this passage. */
function contradiction({ kind, reason, passage, range }: Mismatch, cited: Passage, near: Range): Finding {
  return { verdict: 'contradicted', kind, reason, range: passage === cited ? { start: range.start, end: range.end } : near }
}

/** Longest reference in UTF-16 units; paths and titles are shorter. Bounds the cost. */
const LONGEST_REFERENCE = 600
/** Most UTF-16 units beside the path that only locate: `page 12 of`, `lines 3-9`. */
const MOST_BESIDE_SOURCE = 40

/** Recognises a line of a list of sources: `[1] docs/mill.md`. */
function isReference(answer: string, { whole }: Statement, { chunk }: Retrieved): boolean {
  const text = answer
    .slice(whole.start, Math.min(whole.end, whole.start + LONGEST_REFERENCE))
    .replace(/^[\s:.\-–—*_`<(]+/, '')
    .replace(/[\s.,;:*_`>)]+$/, '')
  if (text === '') return false
  return (
    text === chunk.source ||
    text === chunk.title ||
    (/[./]/.test(chunk.source) && text.includes(chunk.source) && text.length < chunk.source.length + MOST_BESIDE_SOURCE)
  )
}

/** Most weight of a misplaced statement in a window of its cited passage, and least weight in a window of another passage; shares. */
const NEXT_TO_NOTHING = 0.25
const MOST_OF_IT = 0.65

function misplacedFinding(claim: Claim, cited: Passage, library: Library): Finding | undefined {
  if (claim.weights.size < 3) return undefined
  const best = Math.max(0, ...claim.near.map(({ share }) => share))
  if (best > NEXT_TO_NOTHING) return undefined
  for (const other of library.all()) {
    if (claim.cited.includes(other)) continue
    const [near] = nearest(other, claim.weights, 1)
    if (near === undefined || near.share < MOST_OF_IT) continue
    const { marker } = other.retrieved
    const reason = `[${marker}] says this, not [${cited.retrieved.marker}]`
    return { verdict: 'contradicted', kind: 'misplaced', reason, foundIn: marker, range: { start: 0, end: cited.text.length } }
  }
  return undefined
}

/** A statement with the indexes of its citations in the list of all. */
export interface JudgedClaim extends ClaimToVerify {
  readonly citations: readonly number[]
  readonly cited: readonly Retrieved[]
}

/** Returns the statements of the answer that comparing words did not verify, in order. */
export function claimsToJudge(answer: string, citations: readonly Citation[], passages: readonly Retrieved[]): JudgedClaim[] {
  const byMarker = new Map(passages.map((passage) => [passage.marker, passage]))
  const byClaim = Map.groupBy(citations.keys(), (at) => `${citations[at]?.claim.start} ${citations[at]?.claim.end}`)
  return [...byClaim.values()].flatMap((indexes) => {
    const own = indexes.flatMap((at) => citations[at] ?? [])
    const cited = own.flatMap(({ marker }) => byMarker.get(marker) ?? [])
    const [first] = own
    if (first === undefined || cited.length === 0 || own.some(({ verdict }) => verdict === 'verified')) return []
    const statement = answer.slice(first.claim.start, first.claim.end)
    return [{ statement, passages: cited.map(({ chunk }) => chunk.text), citations: indexes, cited }]
  })
}

/** Returns the citations with those verdicts of a judge that have evidence. */
export function withVerdicts(
  citations: readonly Citation[],
  claims: readonly JudgedClaim[],
  verdicts: readonly (ClaimVerdict | undefined)[],
): Citation[] {
  const changed = [...citations]
  for (const [index, { citations: own, cited }] of claims.entries()) {
    const given = verdicts[index]
    if (given === undefined || !Object.hasOwn(JUDGED, given.verdict)) continue
    const { verdict, evidence } = given
    const place = evidence === undefined ? undefined : placeOf(evidence, cited)
    if (evidence !== undefined && place === undefined) continue
    const reason =
      given.reason ?? (verdict === 'contradicted' && evidence !== undefined ? `the passage says “${evidence}”` : undefined)
    for (const at of own) {
      const citation = changed[at]
      const passage = cited.find(({ marker }) => marker === citation?.marker)
      if (citation === undefined || passage === undefined) continue
      const range =
        place?.passage === passage
          ? place.range
          : { start: citation.start - passage.chunk.start, end: citation.end - passage.chunk.start }
      changed[at] = citationOf(passage, citation.claim, {
        verdict,
        kind: 'judged',
        range,
        ...(reason === undefined ? {} : { reason }),
      })
    }
  }
  return changed
}

/** Least words of evidence; fewer occur everywhere and prove nothing. */
const FEWEST_WORDS = 3
const FEWEST_DENSE = 4
const JUDGED: Readonly<Record<Verdict, true>> = { verified: true, contradicted: true, unverified: true }

/** Returns the place of words in one of the passages. */
function placeOf(
  evidence: string,
  cited: readonly Retrieved[],
): { readonly passage: Retrieved; readonly range: Range } | undefined {
  const words = readWords(evidence)
  if (words.words.length < (isDense(words.words[0] ?? '') ? FEWEST_DENSE : FEWEST_WORDS)) return undefined
  for (const passage of cited) {
    const read = readPassage(passage)
    const found = findExact(words, { from: 0, to: words.words.length }, read)
    if (found !== undefined) return { passage, range: { start: read.starts[found.from] ?? 0, end: read.ends[found.to - 1] ?? 0 } }
  }
  return undefined
}
