/** What speaks for a window being the answer: numbers between 0 and 1, each with one meaning. */

import { FUNCTION_WORDS } from './lexicon.ts'
import { bestCandidate } from './nearness.ts'
import type { Question } from './question.ts'
import { wordRange } from './reading.ts'
import type { Reading } from './reading.ts'
import { covered, either, neighbourPairs, share, strengths, uncoveredShare } from './share.ts'
import type { Window } from './windows.ts'
import { readWords } from './words.ts'
import type { Word } from './words.ts'

export const FEATURES = [
  /** Share of the question's weight in the window or its title. */
  'covered',
  /** The same for the best single sentence of the window. */
  'sentence',
  /** Share, within the window, of what the title leaves unsaid. */
  'untitled',
  /** Neighbouring words of the question that are neighbours here too. */
  'pairs',
  /** Share of its names and numbers in the window or its title; 1 when it has none. */
  'specific',
  /** The noun that the answer is one of stands here. */
  'focus',
  /** Best look of an answer of the expected kind. */
  'candidate',
  /** That look, weighed by the question's words around it. */
  'near',
  /** Share of the question's weight in the sentence before, and in the one after. */
  'before',
  'after',
  /** Begins the passage; and that, weighed by how much of the question the title says. */
  'opening',
  'openingTitled',
  /** Begins with a word that points back. */
  'pronoun',
  /** Words, as a share of the longest quote. */
  'length',
  /** Begins in the middle of a sentence. */
  'headless',
  /** Stands right below a heading that asks the same, or in a column and row that do, or says what a name is for. */
  'asked',
  /** A line of code in a text, where no code is asked for. */
  'code',
  /** Score and place of the passage among its rivals, and the share of the question that it covers. */
  'passageScore',
  'passageRank',
  'passageCovered',
  /** Share of the title's words that the question says; one half where there is no title. */
  'topic',
] as const
export type Feature = (typeof FEATURES)[number]
export type FeatureVector = Readonly<Record<Feature, number>>

export interface Scored {
  readonly reading: Reading
  readonly window: Window
  readonly features: FeatureVector
}

/** Every window of every passage with its features. Passages come best first. */
export function scoreWindows(question: Question, readings: readonly Reading[], limit: number): Scored[] {
  const bestScore = Math.max(0, ...readings.map((reading) => usable(reading.passage.score)))
  return readings.flatMap((reading, index) => {
    const passage = {
      passageScore: bestScore > 0 ? usable(reading.passage.score) / bestScore : 1 / (1 + index),
      passageRank: 1 / (1 + index),
      passageCovered: covered(question, either(strengths(question, reading, 0, reading.words.length), reading.titleMatches)),
      topic: topicality(question, reading.passage.title),
    }
    const isAskedAbove = asksTheSame(question, readWords(reading.passage.headings?.at(-1) ?? ''))
    return reading.windows.map((window) => ({
      reading,
      window,
      features: { ...passage, ...windowFeatures(question, reading, window, { limit, isAskedAbove }) },
    }))
  })
}

function topicality(question: Question, title: string | undefined): number {
  const words = readWords(title ?? '').filter((word) => !FUNCTION_WORDS.has(word.lower))
  return words.length === 0 ? 0.5 : words.filter((word) => question.given.has(word.stem)).length / words.length
}

function usable(score: number): number {
  return Number.isFinite(score) && score > 0 ? score : 0
}

type PassageFeature = 'passageScore' | 'passageRank' | 'passageCovered' | 'topic'

function windowFeatures(
  question: Question,
  reading: Reading,
  window: Window,
  { limit, isAskedAbove }: { readonly limit: number; readonly isAskedAbove: boolean },
): Omit<FeatureVector, PassageFeature> {
  const { contexts, titleMatches, units, passage } = reading
  const close = contexts[window.first]?.close ?? []
  const wide = contexts[window.first]?.wide ?? titleMatches
  const [from, to] = wordRange(reading.words, window.start, window.end)
  const inside = either(strengths(question, reading, from, to), close)
  const withTitle = either(inside, wide)
  const above = units[window.first - 1]
  const opening = window.first === 0 || above?.kind === 'heading' ? 1 : 0
  const { look, near } = bestCandidate(question, reading, from, to)
  const isAsked =
    above === undefined
      ? isAskedAbove
      : above.level !== undefined &&
        asksTheSame(question, reading.words.slice(...wordRange(reading.words, above.start, above.end)))
  const first = units[window.first]
  const said = covered(question, withTitle)
  const isAskedFor = first !== undefined && reading.asked.has(first) && said >= SAME_QUESTION
  return {
    covered: said,
    sentence: Math.max(
      ...unitRanges(reading, window).map(([a, b]) =>
        covered(question, either(either(strengths(question, reading, a, b), close), wide)),
      ),
    ),
    untitled: uncoveredShare(question, inside, wide),
    pairs: neighbourPairs(question, reading, from, to),
    specific: share(question, withTitle, (term) => term.specific) ?? 1,
    focus: question.terms.some((term, index) => term.focus && (inside[index] ?? 0) > 0) ? 1 : 0,
    candidate: look,
    near,
    before: unitCovered(question, reading, window.first - 1),
    after: unitCovered(question, reading, window.last + 1),
    opening,
    openingTitled: opening * covered(question, either(close, wide)),
    pronoun: POINTS_BACK.test(passage.text.slice(window.start, window.start + 12)) ? 1 : 0,
    length: Math.min(1, window.length / limit),
    headless: first?.headless === true || window.start > (first?.start ?? 0) ? 1 : 0,
    asked: isAsked || isAskedFor ? 1 : 0,
    // In source code and in data every line is of this kind.
    code: first?.kind === 'code' && passage.isCode !== true && !reading.isData && !question.asksForCode ? 1 : 0,
  }
}

/** Of the question, that a heading has to say to be the same question. */
const SAME_QUESTION = 0.9

/** Says the question, and nothing else. */
function asksTheSame({ terms, given }: Question, heading: readonly Word[]): boolean {
  const said = new Set(heading.map(({ stem }) => stem))
  const whole = terms.reduce((sum, { stem, weight }) => sum + (said.has(stem) ? weight : 0), 0)
  return whole >= SAME_QUESTION && heading.every(({ lower, stem }) => FUNCTION_WORDS.has(lower) || given.has(stem))
}

const POINTS_BACK = /^(?:he|she|it|they|his|her|its|their|this|that|these|those|such)\b/i

/** The units of the window as word ranges, cut where the window is. */
function unitRanges(reading: Reading, window: Window): [number, number][] {
  return reading.units
    .slice(window.first, window.last + 1)
    .map((unit) => wordRange(reading.words, Math.max(unit.start, window.start), Math.min(unit.end, window.end)))
}

function unitCovered(question: Question, reading: Reading, index: number): number {
  const unit = reading.units[index]
  if (unit === undefined) return 0
  return covered(question, strengths(question, reading, ...wordRange(reading.words, unit.start, unit.end)))
}
