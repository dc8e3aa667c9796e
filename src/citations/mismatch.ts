/** Types a statement as it is compared, and a mismatch. */

import type { CitationKind } from '../core/citation.ts'
import type { Language } from '../text/language.ts'
import type { Measured } from '../text/numbers.ts'
import type { Near, Passage, Weights } from './passages.ts'
import type { Words } from '../text/comparable-words.ts'
import type { Range } from '../util/range.ts'

/** A statement with the passages that it cites. */
export interface Claim extends Words {
  readonly language: Language
  readonly measured: Measured
  /** Ranges of code in `text`. */
  readonly code: readonly Range[]
  /** Stems that mean something, with their weights. */
  readonly weights: Weights
  readonly cited: readonly Passage[]
  /** Windows of the cited passages, nearest first. */
  readonly near: readonly Near[]
  /** Stems of the question: what it says, a statement need not find. */
  readonly question: ReadonlySet<string>
}

export interface Mismatch {
  readonly kind: CitationKind
  readonly reason: string
  readonly passage: Passage
  /** Of the text of the passage: what contradicts the statement. */
  readonly range: Range
}

/** A reason that names both sides. */
export function reasonFor(said: string, has: string, where = 'the passage has'): string {
  return `says “${said}” where ${where} “${has}”`
}
