/** Where the parts of an answer come from: the socket of a provider, or an AI SDK model. */

import type { Answer } from './answer/answer.ts'

export interface AnswerSource {
  /**
   * Adds what comes next to the answer.
   * @returns `false` when nothing more comes. @throws what went wrong, after all that came before it was added.
   */
  readonly next: (answer: Answer) => Promise<boolean>
  /** The answer came, or is to come, in one piece: its end is certain. */
  readonly isWhole: () => boolean
  /** The provider has begun to answer. */
  readonly hasBegun: () => boolean
  /** Lets go of the connection, whether the answer is complete or not. */
  readonly close: () => void
}
