/**
 * The features of a run and the signs of an answer, and what each weighs.
 *
 * Fitted by `npm run fit` on questions over documents of others; `docs/decisions/0010-the-quoting-model.md` has the cross-validated figures.
 * Each feature and sign is a number from 0 to 1.
 */

export const WEIGHTS = {
  /** Share of the question (by weight of its terms) that the best sentence says. */
  sentence: 1.85,
  /** Share that text, headings and title say together. */
  all: 3.26,
  /** Share that its own heading says. */
  heading: 1.84,
  /** Share of its own heading that the question says. */
  headingSaid: 1.84,
  /** Terms that are neighbours in the question and in a sentence. */
  pairs: 0.81,
  /** Share of the question that the text says, for its length. */
  density: 1.4,
  /** Score of the passage in the search, as a share of the best. */
  search: 5.07,
  /** 1 where it has the look of what is sought. */
  look: 0.86,
  /** 1 where it begins its section. */
  first: 0.37,
  /** Longer runs say more by chance. */
  length: -2.8,
} as const

/** Log-odds that the documents hold the answer. */
export const CONFIDENCE = {
  /** Share of the question that a run says, headings and title included; of all runs the most. */
  said: 1.9,
  /** Weight of the terms that no passage says. */
  unknown: -1.67,
  /** Weight of the names that the best run does not say: nothing else stands for `YAML` or `click.table`. */
  name: -1.87,
  /** Share of the first five places that no passage takes: of a small store coverage alone can tell. */
  few: 0.99,
  /** How far the best run is ahead of that of the fifth passage. */
  lead: 2.0,
  /** How far the first passage is ahead of the second in the search. */
  ahead: 2.52,
  /** Share of the other passages that come from the document of the first. */
  sameDocument: 1.41,
  /** Share of the heading of the best run that the question says. */
  headingSaid: 0.77,
} as const

/** Log-odds without any sign. */
export const BASE = -3.09
/** Log-odds from which on a question is answered. */
export const THRESHOLD = -0.6

export type Feature = keyof typeof WEIGHTS
export type Sign = keyof typeof CONFIDENCE
export const FEATURES: readonly Feature[] = Object.keys(WEIGHTS) as Feature[]
export const SIGNS: readonly Sign[] = Object.keys(CONFIDENCE) as Sign[]
