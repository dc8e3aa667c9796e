import type { Place } from './store.ts'

/**
 * What checking a citation came to. Supported: `verbatim`, `elided` (verbatim but for an ellipsis), `paraphrase` (own words that the
 * passage bears out). Not supported: `edited` (almost the words of the passage), `stitched` (pieces from several places passed off as one),
 * `shifted` (the words stand in the passage beside the cited one, or that a neighbouring marker names), `misattributed` (they stand in
 * another passage), `invented` (a quotation that stands nowhere), `unfounded` (own words that the passage does not bear out),
 * `uncheckable` (nothing to compare), `no-passage` (the marker names none).
 */
export type CitationKind =
  | 'verbatim'
  | 'elided'
  | 'paraphrase'
  | 'edited'
  | 'stitched'
  | 'shifted'
  | 'misattributed'
  | 'invented'
  | 'unfounded'
  | 'uncheckable'
  | 'no-passage'

/** A place in a source that an answer appeals to, checked against that source. */
export interface Citation {
  /** As it stands in the answer, without brackets: `1`. */
  readonly marker: string
  readonly chunkId: string
  readonly source: string
  /** UTF-16 offsets into the extracted text of the source; the whole chunk where no quote could be found in it. */
  readonly start: number
  readonly end: number
  /** The words of the source at that range where they support the answer; otherwise what the answer claims to quote. */
  readonly quote: string
  /** The passage says so, as far as words can show. `false` is a warning: the answer cites what the source does not say. */
  readonly supported: boolean
  /** Where the statement stands in the answer, in UTF-16 offsets, its markers included. */
  readonly claim?: { readonly start: number; readonly end: number }
  /** 1-based lines of the source, where it has lines. */
  readonly lines?: readonly [first: number, last: number]
  /** 1-based page of the source that it begins on, where it has pages (PDF). */
  readonly page?: number
  /** How the words of the answer relate to the passage. Absent in what older versions wrote. */
  readonly kind?: CitationKind
  /** Why it is not supported, in a few words for people. */
  readonly reason?: string
  /** Other places whose text is that of the passage, or holds no more: each is a whole chunk. */
  readonly alsoIn?: readonly Place[]
  /** The marker of the passage that does say it, where another one does. */
  readonly foundIn?: string
}
