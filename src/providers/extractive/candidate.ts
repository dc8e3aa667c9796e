/** A place in a text that may be the answer. */

import type { Question } from './question.ts'
import type { Word } from './words.ts'

export interface Candidate {
  /** Range of words, end exclusive. */
  readonly from: number
  readonly to: number
  /** 0 to 1: how much it looks like the kind. */
  readonly strength: number
}

/** Where candidates are looked for. What the question itself says is none. */
export interface SearchedText {
  readonly question: Question
  readonly text: string
  readonly words: readonly Word[]
}
