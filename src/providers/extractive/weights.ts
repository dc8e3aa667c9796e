/**
 * Every learned number of the extractive model. Both lists belong to logistic models over values between 0 and 1, so that a weight is
 * what a feature can move. `node scripts/fit-extractive.ts FOLDER…` fits and cross-validates them; what they were fitted on, and what
 * they reached on questions they had not seen, is in docs/decisions/0010-the-embedded-model.md.
 */

import type { Feature } from './features.ts'

/** Worth of a window as log-odds: the window with the highest sum is the answer. */
export const RANKING: Readonly<Record<Feature, number>> = {
  covered: 1.64,
  sentence: 1.6,
  untitled: 1.76,
  pairs: 0.56,
  specific: 0.75,
  focus: 0.83,
  candidate: 1.71,
  near: 1.44,
  before: 0.83,
  after: 0.43,
  opening: 0.76,
  openingTitled: 0.57,
  pronoun: -0.19,
  length: 0.7,
  headless: -0.49,
  // Settled by hand: what was fitted on holds no headings and no code.
  asked: 2,
  code: -2,
  passageScore: 2.03,
  passageRank: 2.38,
  passageCovered: 1.56,
  topic: 1.16,
}

/** How sure it is that the best window answers, as log-odds; at 0 and above it is answered. */
export const CONFIDENCE: Readonly<Record<'covered' | 'lead' | 'margin' | 'topic' | 'missing' | 'bias', number>> = {
  covered: 3.38,
  lead: 2.57,
  margin: 2.52,
  topic: 1.35,
  missing: -2.35,
  bias: -3.55,
}
