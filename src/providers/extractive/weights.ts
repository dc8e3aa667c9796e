/**
 * Every learned number of the extractive model. Both lists belong to logistic models; a feature is between about 0 and 1, so that a
 * weight is what the feature can move. How they were fitted: docs/decisions/ (the page on the embedded model).
 */

import type { Feature } from './features.ts'

/** Worth of a window; the window with the highest sum is the answer. */
export const RANKING: Readonly<Record<Feature, number>> = {
  overlap: -0.7,
  context: 2.59,
  titled: 2.81,
  pairs: 0.67,
  passageScore: 3.6,
  passageCoverage: 1.35,
  candidate: 1.72,
  near: 0,
  focus: 0.69,
  opening: 1,
  length: 1.14,
  cutHead: -0.98,
  cutTail: -0.2,
  pronoun: -0.82,
  rest: 1.26,
  compact: 0,
  carry: 0.93,
  specific: 0.84,
  rank: 1.62,
  answerNear: 1.36,
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
