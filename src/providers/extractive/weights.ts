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
}

export type Sign = 'covered' | 'titled' | 'missing' | 'margin'

/** How sure the model is that the best window answers, on the log-odds scale; answered when the sum is not below 0. */
export const CONFIDENCE: Readonly<Record<Sign, number>> & { readonly bias: number } = {
  covered: 6,
  titled: 2,
  missing: -2,
  margin: 1,
  bias: -4.2,
}
