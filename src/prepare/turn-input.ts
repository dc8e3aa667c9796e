/** The input of a turn. */

import type { ContextSource, EarlierRead } from '../core/injection.ts'
import type { Message } from '../core/message.ts'
import type { RetrievalOptions } from './retrieve.ts'

export interface TurnInput {
  readonly system: string
  /** The session before this turn. */
  readonly history: readonly Message[]
  /** The messages of the user; the last one holds the question. */
  readonly messages: readonly Message[]
  /** Calls and results after the question, if the turn continues another one. */
  readonly since?: readonly Message[]
  /** Ids of messages that are already recorded in this turn. */
  readonly written?: ReadonlySet<string>
  readonly retrieve?: RetrievalOptions
  /** Data of the application, placed before the prompt. */
  readonly added?: readonly Message[]
  /** Context sources to load, and files that tools read earlier in the session. */
  readonly context?: { readonly sources: readonly ContextSource[]; readonly reads: readonly EarlierRead[] }
}

/** Returns the text to search for: the user's messages without supplied data. */
export function questionOf(messages: readonly Message[]): string {
  return messages
    .filter(({ role, injected }) => role === 'user' && injected === undefined)
    .map((message) => message.content)
    .join('\n')
}
