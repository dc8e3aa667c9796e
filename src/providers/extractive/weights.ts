/**
 * Every learned number of the extractive model. Both lists belong to logistic models; a feature is between about 0 and 1, so that a
 * weight is what the feature can move. How they were fitted: docs/decisions/ (the page on the embedded model).
 */

import type { Feature } from './features.ts'

/** Worth of a window; the window with the highest sum is the answer. */
export const RANKING: Readonly<Record<Feature, number>> = {
  covered: 1.83,
  sentence: 1.78,
  untitled: 1.44,
  pairs: 0.62,
  specific: 0.88,
  focus: 0.64,
  candidate: 1.37,
  near: 0.83,
  before: 0.75,
  after: 0.48,
  opening: 0.7,
  openingTitled: 0.74,
  pronoun: -0.34,
  length: 0.62,
  headless: -0.53,
  passageScore: 2.17,
  passageRank: 2.22,
  passageCovered: 1.2,
  topic: 1,
}

/** How sure it is that the best window answers, as log-odds; at 0 and above it is answered. */
export const CONFIDENCE: Readonly<Record<'covered' | 'missing' | 'lead' | 'margin' | 'topic' | 'bias', number>> = {
  covered: 4.37,
  missing: -1.85,
  lead: 2.82,
  margin: 2.42,
  topic: 1.38,
  bias: -4.8,
}
