/** Estimates the probability that the documents contain an answer. */

import { Analyzer } from '../../text/analyzer.ts'
import type { ScoredRun } from './features.ts'
import { shareOf } from './features.ts'
import type { Reading } from './match.ts'
import type { Question } from './question.ts'
import { BASE, CONFIDENCE, FEATURES, SIGNS, WEIGHTS } from './weights.ts'
import type { Sign } from './weights.ts'

/** The lead is measured against the best run of this passage. */
const OTHER_PASSAGE = 4
const LARGEST_LEAD = 5
/** Identifiers, options, words with a digit, and capitalised words other than the first. */
const NAMES =
  /[\p{L}\p{N}_]+(?:[._:/-][\p{L}\p{N}_]+)+|--?[\p{L}][\w-]*|[\p{L}]*\p{N}[\p{L}\p{N}]*|(?<=\S\s+)\p{Lu}[\p{L}\p{N}]*/gu

const analyzer = new Analyzer()

/** @param ranked runs, best first. */
export function signsOf(
  question: Question,
  readings: readonly Reading[],
  ranked: readonly ScoredRun[],
  score: (features: Float64Array) => number = scoreOf,
): Float64Array {
  const [best] = ranked
  const [first, second] = readings
  if (best === undefined) return new Float64Array(SIGNS.length)
  const names = new Set(Array.from(question.text.matchAll(NAMES), ([name]) => analyzer.terms(name)).flat())
  const known = (at: number): number => readings.reduce((most, { whole }) => Math.max(most, whole[at] ?? 0), 0)
  const missing = (of: (term: string, at: number) => number): number =>
    question.terms.reduce((sum, { term, weight }, at) => sum + weight * of(term, at), 0)
  const values: Record<Sign, number> = {
    said: ranked.reduce((most, { said }) => Math.max(most, shareOf(question, said)), 0),
    unknown: missing((_, at) => 1 - known(at)),
    name: missing((term, at) => (names.has(term) ? 1 - (best.said[at] ?? 0) : 0)),
    few: Math.max(0, 1 - readings.length / (OTHER_PASSAGE + 1)),
    lead: leadOf(question, ranked, score),
    ahead: second === undefined ? shareOf(question, best.said) : 1 - second.passage.score / (first?.passage.score ?? 1),
    sameDocument: sameDocument(readings.slice(0, OTHER_PASSAGE + 1)),
    headingSaid: best.run.reading.headingSaid(best.run.section),
  }
  return Float64Array.from(SIGNS, (sign) => values[sign])
}

/** Returns the share of the other passages with the title of the first or, without titles, its source. */
function sameDocument([first, ...others]: readonly Reading[]): number {
  const nameOf = ({ passage: { title, source } }: Reading): string => title ?? source
  const same = others.filter((other) => first !== undefined && nameOf(other) === nameOf(first)).length
  return same === 0 ? 0 : same / others.length
}

/** Returns the lead over a later passage; a missing passage is not evidence. */
function leadOf(question: Question, ranked: readonly ScoredRun[], score: (features: Float64Array) => number): number {
  const bestOf = new Map<Reading, number>()
  for (const { run, features } of ranked) if (!bestOf.has(run.reading)) bestOf.set(run.reading, score(features))
  const scores = [...bestOf.values()]
  const other = scores[OTHER_PASSAGE]
  const lead =
    other === undefined ? LARGEST_LEAD * shareOf(question, ranked[0]?.said ?? new Float64Array()) : (scores[0] ?? 0) - other
  return Math.min(LARGEST_LEAD, lead) / LARGEST_LEAD
}

/** Returns the weighted sum of the features of a run. */
export function scoreOf(features: Float64Array): number {
  return FEATURES.reduce((sum, feature, at) => sum + WEIGHTS[feature] * (features[at] ?? 0), 0)
}

/** Returns the log-odds that the documents contain the answer. */
export function confidenceOf(signs: Float64Array): number {
  return SIGNS.reduce((sum, sign, at) => sum + CONFIDENCE[sign] * (signs[at] ?? 0), BASE)
}
