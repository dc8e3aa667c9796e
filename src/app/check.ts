/** Types the findings of the doctor. */

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What to do, where something is to be done. */
  readonly hint?: string
}
