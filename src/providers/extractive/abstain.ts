/** Whether the best window answers the question at all. */

import type { Question } from './question.ts'
import type { Ranked } from './rank.ts'
import type { Reading } from './reading.ts'
import { CONFIDENCE } from './weights.ts'
import type { Sign } from './weights.ts'

export type Signs = Readonly<Record<Sign, number>>

/** What is known about the fit of question and passages, each between 0 and 1. */
export function readSigns(question: Question, readings: readonly Reading[], ranked: readonly Ranked[]): Signs {
  const [best] = ranked
  if (best === undefined) return { covered: 0, titled: 0, missing: 1, margin: 0 }
  const rival = ranked.find((other) => other.reading !== best.reading)
  return {
    covered: best.features.passageCovered,
    titled: best.features.covered,
    missing: heaviestMissing(question, readings),
    margin: rival === undefined ? 1 : Math.min(1, (best.worth - rival.worth) / WIDE_MARGIN),
  }
}

/** A lead over every other passage that leaves no doubt. */
const WIDE_MARGIN = 4

/** Weight of the heaviest word of the question that stands in no passage: a name nobody mentions is a question nobody answers. */
function heaviestMissing(question: Question, readings: readonly Reading[]): number {
  const found = new Set<number>()
  for (const reading of readings) {
    for (const match of reading.matches) if (match !== undefined) found.add(match.term)
    reading.titleMatches.forEach((strength, term) => {
      if (strength > 0) found.add(term)
    })
  }
  return Math.max(0, ...question.terms.map((term, index) => (found.has(index) ? 0 : term.weight)))
}

/** 0 to 1; what is below one half is not answered. */
export function confidenceOf(signs: Signs): number {
  const sum = Object.entries(signs).reduce((total, [sign, value]) => total + CONFIDENCE[sign as Sign] * value, CONFIDENCE.bias)
  return 1 / (1 + Math.exp(-sum))
}

export const SURE_ENOUGH = 0.5
