/**
 * The features of a run and the signs of an answer, with their weights.
 *
 * Fitted by `npm run fit` on questions over third-party documents; `docs/decisions/0010-the-quoting-model.md` has the cross-validated figures.
 * Each feature and sign is a number from 0 to 1.
 */

export const WEIGHTS = {
  /** Share of the question (by weight of its terms) that the best sentence covers. */
  sentence: 1.93,
  /** Share that text, headings and title cover together. */
  all: 3.31,
  /** Share that its own heading covers. */
  heading: 1.77,
  /** Share of its own heading that the question covers. */
  headingSaid: 1.92,
  /** Share of terms adjacent both in the question and in a sentence. */
  pairs: 0.78,
  /** Share of the question that the text covers, relative to its length. */
  density: 1.4,
  /** Score of the passage in the search, as a share of the best score. */
  search: 4.97,
  /** 1 if it has the look of the sought answer. */
  look: 0.89,
  /** 1 if it begins its section. */
  first: 0.36,
  /** Length: longer runs match more by chance. */
  length: -2.84,
} as const

/** Weights of the signs, in log-odds that the documents contain the answer. */
export const CONFIDENCE = {
  /** Largest share of the question that a run covers, headings and title included. */
  said: 1.71,
  /** Weight of the terms that no passage covers. */
  unknown: -1.77,
  /** Weight of the names missing from the best run: `YAML` or `click.table` has no synonym. */
  name: -1.88,
  /** Share of the first five places without a passage: a small store offers little besides coverage. */
  few: 0.96,
  /** Lead of the best run over that of the fifth passage. */
  lead: 2.1,
  /** Lead of the first passage over the second in the search. */
  ahead: 2.77,
  /** Share of the other passages from the document of the first. */
  sameDocument: 1.35,
  /** Share of the heading of the best run that the question covers. */
  headingSaid: 0.84,
} as const

/** Log-odds when all signs are 0. */
export const BASE = -3.03
/** Least log-odds at which a question is answered. */
export const THRESHOLD = -0.6

export type Feature = keyof typeof WEIGHTS
export type Sign = keyof typeof CONFIDENCE
export const FEATURES: readonly Feature[] = Object.keys(WEIGHTS) as Feature[]
export const SIGNS: readonly Sign[] = Object.keys(CONFIDENCE) as Sign[]
