/** Types the input of a turn. */

import type { ContextSource, EarlierRead } from '../core/injection.ts'
import type { Message } from '../core/message.ts'
import type { RetrievalOptions } from './retrieve.ts'

export interface TurnInput {
  readonly system: string
  /** The session before this turn. */
  readonly history: readonly Message[]
  /** The messages of the user; the last one holds the question. */
  readonly messages: readonly Message[]
  /** Calls and their results that follow the question, when a turn is handed over half way. */
  readonly since?: readonly Message[]
  /** Ids of those of them that are written down as messages of this turn already. */
  readonly written?: ReadonlySet<string>
  readonly retrieve?: RetrievalOptions
  /** Data of the application that stands before the prompt. */
  readonly added?: readonly Message[]
  /** Context sources to look up, and what tools have read earlier in the session. */
  readonly context?: { readonly sources: readonly ContextSource[]; readonly reads: readonly EarlierRead[] }
}

/** The text to search for: the user's messages, without data that was handed over. */
export function questionOf(messages: readonly Message[]): string {
  return messages
    .filter(({ role, injected }) => role === 'user' && injected === undefined)
    .map((message) => message.content)
    .join('\n')
}
