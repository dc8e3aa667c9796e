/** What is answered from. */

export interface Passage {
  /** What cites it, without brackets: `1`. */
  readonly marker: string
  readonly text: string
  readonly title?: string | undefined
  /** Headings above it, outermost first. */
  readonly headings?: readonly string[] | undefined
  /** Source code, by the name of its file. Default false. */
  readonly isCode?: boolean | undefined
  /** Separated values, by the name of its file. Default false. */
  readonly isTable?: boolean | undefined
  /** Higher is better; compared only with the other passages of the same question. */
  readonly score: number
}

/** A stretch of a passage, word for word: `text === passage.text.slice(start, end)`. */
export interface Quote {
  readonly marker: string
  readonly start: number
  readonly end: number
  readonly text: string
  /** A line of code. */
  readonly code?: boolean
  /** Out of source code: where it goes over lines, each begins with the sign of a remark. */
  readonly remark?: boolean
}
