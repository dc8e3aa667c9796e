import type { Place } from './store.ts'

/** `verified`: stands there word for word. `contradicted`: a mismatch that can be named. `unverified`: everything else, neither right nor wrong. */
export type Verdict = 'verified' | 'contradicted' | 'unverified'

/**
 * The ground of a verdict.
 *
 * Verified: `verbatim`; `elided`, verbatim but for an ellipsis; `judged`, by a model or verifier.
 * Contradicted: `number`, `date`, `unit`, `name`, `quantifier`, `modality`, `negation`, `contrary`, a word of the statement that mismatches the passage;
 * `edited`, a quotation with changed words; `invented`, a quotation that stands nowhere; `misplaced`, the words stand in another passage;
 * `cell`, the value stands in another row or column; `no-passage`, the marker names none; `judged`.
 * Unverified: `paraphrase`; `judged`; `unchecked`, nothing was compared.
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
  /** As it stands in the answer, without brackets: `1`. */
  readonly marker: string
  /** Empty where the marker names no passage; so are `source` and `quote`. */
  readonly chunkId: string
  /** The document, as the store names it. */
  readonly source: string
  /** UTF-16 offsets into the extracted text of the source. */
  readonly start: number
  /** UTF-16 offset in the text of the source, behind the quote. */
  readonly end: number
  /** The words of the source at that range: those that verify or contradict the statement, else the ones that come nearest. */
  readonly quote: string
  /** The result of checking the statement against the quote. */
  readonly verdict: Verdict
  /** `true` for verified, `false` for contradicted, `null` for unverified. */
  readonly supported: boolean | null
  /** How the citation came about. */
  readonly kind: CitationKind
  /** Where the statement stands in the answer, in UTF-16 offsets, its markers included. */
  readonly claim: { readonly start: number; readonly end: number }
  /** The contradiction, both sides named, in a few words for people. */
  readonly reason?: string
  /** 1-based lines of the source, where it has lines. */
  readonly lines?: readonly [first: number, last: number]
  /** 1-based page of the source that the quote begins on, where it has pages (PDF). */
  readonly page?: number
  /** Other places whose text is that of the passage, or holds no more: each is a whole chunk. */
  readonly alsoIn?: readonly Place[]
  /** The marker of the passage that does say it, where another one does. */
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
  /** The passage says so, says otherwise, or neither. */
  readonly verdict: Verdict
  /** In a few words for people. */
  readonly reason?: string
  /** Words of one of the passages that decide. They must stand there verbatim, else the verdict does not count; without any it does. */
  readonly evidence?: string
}

/**
 * Judges statements by what their passages mean: a natural language inference model, say. Gets all statements of one answer that do not stand in
 * their passages word for word, and resolves to their verdicts, in their order; `undefined` leaves the verdict of the words.
 */
export type ClaimVerifier = (
  claims: readonly ClaimToVerify[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly (ClaimVerdict | undefined)[]>
