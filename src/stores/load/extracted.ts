/** What comes out of a file whose format is not text. */
export interface Extracted {
  readonly text: string
  readonly title?: string
  /** Worth telling, such as a guessed encoding. */
  readonly note?: string
}
