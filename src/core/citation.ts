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
  /** The quote stands in the chunk. `false` is a warning: the answer cites what the source does not say. */
  readonly supported: boolean
  /** 1-based lines of the source, where it has lines. */
  readonly lines?: readonly [first: number, last: number]
}
