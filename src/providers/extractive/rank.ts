/** All windows of all passages, best first. */

import { FEATURES } from './features.ts'
import type { FeatureVector, Scored } from './features.ts'
import { RANKING } from './weights.ts'

export interface Ranked extends Scored {
  readonly worth: number
}

export function rank(scored: readonly Scored[]): Ranked[] {
  return scored.map((one) => ({ ...one, worth: worthOf(one.features) })).toSorted((a, b) => b.worth - a.worth)
}

export function worthOf(features: FeatureVector): number {
  return FEATURES.reduce((sum, feature) => sum + RANKING[feature] * features[feature], 0)
}
