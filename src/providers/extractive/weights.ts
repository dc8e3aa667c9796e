/**
 * Every learned number of the extractive model. Both lists belong to logistic models over values between 0 and 1, so that a weight is
 * what a feature can move. `node scripts/fit-extractive.ts FOLDER…` fits and cross-validates them; what they were fitted on, and what
 * they reached on questions they had not seen, is in docs/decisions/0020-the-embedded-model.md.
 */

import type { Feature } from './features.ts'

/** Worth of a window as log-odds: the window with the highest sum is the answer. */
export const RANKING: Readonly<Record<Feature, number>> = {
  covered: 1.69,
  sentence: 1.61,
  untitled: 1.72,
  pairs: 0.67,
  specific: 0.82,
  focus: 0.65,
  candidate: 1.47,
  near: 1.01,
  before: 0.66,
  after: 0.43,
  opening: 0.72,
  openingTitled: 0.54,
  pronoun: -0.35,
  length: 0.58,
  headless: -0.41,
  passageScore: 1.93,
  passageRank: 2.2,
  passageCovered: 1.42,
  topic: 1.05,
}

/** How sure it is that the best window answers, as log-odds; at 0 and above it is answered. */
export const CONFIDENCE: Readonly<Record<'covered' | 'lead' | 'margin' | 'topic' | 'missing' | 'bias', number>> = {
  covered: 3.33,
  lead: 2.38,
  margin: 2.44,
  topic: 1.2,
  missing: -2.19,
  bias: -3.44,
}
