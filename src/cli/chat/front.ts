/** The port to the user's side of a chat: a screen, a terminal of plain lines, or a pipe. */

import type { QueryEvent } from '../../core/event.ts'
import type { Steering } from '../../engine/steering.ts'
import type { Style } from '../io.ts'
import type { Calls } from './calls.ts'

export interface Choice {
  /** What is typed to take it: a letter or a number. */
  readonly key: string
  readonly label: string
}

export interface ChooseOptions {
  /** The one that Enter takes; absent: none before somebody has moved. */
  readonly initial?: number
  readonly signal?: AbortSignal
}

export interface Front {
  /** `false`: nobody can be asked. */
  readonly canAsk: boolean
  /** Cells of a line. */
  readonly columns: number
  readonly style: (style: Style, text: string) => string
  /** What is typed while a turn runs is given to it. */
  steerWith(steering: Steering): void
  /** The next message or command; `undefined` when the user leaves. */
  next(): Promise<string | undefined>
  /** @param text fit for a terminal. */
  tell(text: string): Promise<void>
  /** Something beside the conversation, of any origin. */
  note(text: string): Promise<void>
  /** `undefined` when there is no answer. Several questions are asked one after the other. */
  choose(question: string, choices: readonly Choice[], options?: ChooseOptions): Promise<number | undefined>
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Shows a turn to its end; `interrupt` ends it early. Resolves to the exit code that it deserves. */
  follow(events: AsyncIterable<QueryEvent>, calls: Calls, interrupt: () => void): Promise<number>
  /** Shows that something is at work until it is done; `interrupt` ends it early. */
  busy<T>(work: () => Promise<T>, interrupt: () => void): Promise<T>
  /** Calls a user who looks elsewhere. */
  ring(): Promise<void>
  /** Gives the terminal back. A second call does nothing. */
  close(): Promise<void>
}
