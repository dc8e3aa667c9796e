/** What comes out of a file whose format is not text. */
export interface Extracted {
  readonly text: string
  readonly title?: string
}
