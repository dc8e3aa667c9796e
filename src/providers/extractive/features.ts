/** Computes the features of a run: what speaks for showing it, each from 0 to 1. */

import { looksLike, shareOf } from './looks.ts'
import type { Strengths } from './match.ts'
import type { Question } from './question.ts'
import { wordsOf } from './runs.ts'
import type { Run } from './runs.ts'
import { FEATURES } from './weights.ts'
import type { Feature } from './weights.ts'

export interface ScoredRun {
  readonly run: Run
  /** In the order of `FEATURES`. */
  readonly features: Float64Array
  /** What text, headings and title say of each term. */
  readonly said: Strengths
}

const WORDS_OF_ONE_SENTENCE = 15
/** log2 of the words of the longest run. */
const LONGEST = 7

export function scoreRun(question: Question, run: Run): ScoredRun {
  const { reading, pieces, section } = run
  const text = new Float64Array(question.terms.length)
  const pairs = new Float64Array(question.terms.length)
  let sentence = 0
  for (const one of pieces.flatMap(({ sentences }) => sentences)) {
    sentence = Math.max(sentence, shareOf(question, one.strengths))
    for (let at = 0; at < text.length; at++) {
      text[at] = Math.max(text[at] ?? 0, one.strengths[at] ?? 0)
      pairs[at] = Math.max(pairs[at] ?? 0, one.pairs[at] ?? 0)
    }
  }
  const path = reading.path(section)
  const said = text.map((strength, at) => Math.max(strength, path[at] ?? 0))
  const words = wordsOf(pieces)
  const values: Record<Feature, number> = {
    sentence,
    all: shareOf(question, said),
    heading: shareOf(question, reading.heading(section)),
    headingSaid: reading.headingSaid(section),
    pairs: shareOf(question, pairs),
    density: shareOf(question, text) / (1 + Math.log2(1 + words / WORDS_OF_ONE_SENTENCE)),
    search: reading.passage.score,
    look: looksLike(question, run) ? 1 : 0,
    first: reading.pieces[run.first - 1]?.piece.section === section ? 0 : 1,
    length: Math.min(1, Math.log2(1 + words) / LONGEST),
  }
  return { run, said, features: Float64Array.from(FEATURES, (feature) => values[feature]) }
}
