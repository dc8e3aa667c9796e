/** Defines citations: statements of an answer, checked against their passages. */

import type { Place } from './store.ts'

/** `verified`: the passage says it word for word. `contradicted`: a named mismatch. `unverified`: everything else, neither confirmed nor refuted. */
export type Verdict = 'verified' | 'contradicted' | 'unverified'

/**
 * The reason for a verdict.
 *
 * Verified:
 * - `verbatim`: the passage has the statement, or the quotation in it, word for word.
 * - `elided`: the same, but for an ellipsis or an insertion in square brackets.
 *
 * Contradicted:
 * - `number`, `date`, `unit`, `name`: the statement has another one than the passage, or a name that the list of the passage lacks.
 * - `quantifier`, `modality`: it says "all" for "most", or "has to" for "need not".
 * - `negation`, `contrary`: the passage denies it, or has the contrary word, such as "before" for "after".
 * - `cell`: a value of a table is in another row or column.
 * - `edited`, `invented`: a quotation with changed words; a quotation that is in no passage.
 * - `misplaced`: the words are in another passage, `foundIn`.
 * - `no-passage`: the marker names no passage.
 *
 * Unverified:
 * - `paraphrase`: other words than those of the passage, without a mismatch that words alone could show.
 * - `unchecked`: nothing was compared.
 *
 * Any verdict: `judged`, by a model or a function of the application.
 */
export type CitationKind =
  | 'verbatim'
  | 'elided'
  | 'number'
  | 'date'
  | 'unit'
  | 'name'
  | 'quantifier'
  | 'modality'
  | 'negation'
  | 'contrary'
  | 'cell'
  | 'edited'
  | 'invented'
  | 'misplaced'
  | 'no-passage'
  | 'paraphrase'
  | 'judged'
  | 'unchecked'

/** One statement of an answer and one of its markers, checked against the passage that the marker names. */
export interface Citation {
  /** The marker as written in the answer, without brackets: `1`. */
  readonly marker: string
  /** Empty if the marker names no passage; so are `source` and `quote`. */
  readonly chunkId: string
  /** The document, as the store names it. */
  readonly source: string
  /** Start of the quote: a UTF-16 offset in the extracted text of the source. */
  readonly start: number
  /** End of the quote, exclusive: a UTF-16 offset in the same text. */
  readonly end: number
  /** The words of the source at that range: those that verify or contradict the statement, else the closest ones. */
  readonly quote: string
  /** The result of checking the statement against the quote. */
  readonly verdict: Verdict
  /** `true` for verified, `false` for contradicted, `null` for unverified. */
  readonly supported: boolean | null
  /** The reason for the verdict. */
  readonly kind: CitationKind
  /** Range of the statement in the answer, in UTF-16 offsets, including its markers. */
  readonly claim: { readonly start: number; readonly end: number }
  /** The contradiction, naming both sides, in a few words for people. */
  readonly reason?: string
  /** 1-based lines of the source, if it has lines. */
  readonly lines?: readonly [first: number, last: number]
  /** 1-based page of the source on which the quote begins, if it has pages (PDF). */
  readonly page?: number
  /** Other chunks whose text equals the passage or is contained in it. */
  readonly alsoIn?: readonly Place[]
  /** The marker of another passage that supports the statement, if there is one. */
  readonly foundIn?: string
}

/** A statement and the passages that it cites. */
export interface ClaimToVerify {
  /** A statement of the answer, without markers. */
  readonly statement: string
  /** Texts of the passages, in the order of the markers. */
  readonly passages: readonly string[]
}

/** The verdict of a verifier on one statement. */
export interface ClaimVerdict {
  /** The passage supports the statement, contradicts it, or neither. */
  readonly verdict: Verdict
  /** The reason, in a few words for people. */
  readonly reason?: string
  /** The deciding words, verbatim from a passage. A verdict whose evidence is in no passage is ignored; evidence may be absent. */
  readonly evidence?: string
}

/**
 * Judges statements by the meaning of their passages, for example with a natural language inference model. Receives all statements of an answer
 * that are not in their passages word for word. Resolves to verdicts in the same order; `undefined` keeps the verdict of the word comparison.
 */
export type ClaimVerifier = (
  claims: readonly ClaimToVerify[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly (ClaimVerdict | undefined)[]>
