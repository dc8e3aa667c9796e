/** The port to the user's side of a chat: a screen, a terminal of plain lines, or a pipe. */

import type { QueryEvent } from '../../core/event.ts'
import type { Steering } from '../../engine/steering.ts'
import type { Style } from '../io.ts'
import type { ToolCalls } from '../tool-calls.ts'

export interface Choice {
  /** What is typed to take it: a letter or a number. */
  readonly key: string
  readonly label: string
}

/** Choices that are taken by their number. */
export function numbered(labels: readonly string[]): readonly Choice[] {
  return labels.map((label, index) => ({ key: String(index + 1), label }))
}

export interface ChooseOptions {
  /** The one that Enter takes; absent: none before somebody has moved. */
  readonly initial?: number
  readonly signal?: AbortSignal
}

/** The conversation as its front knows it. */
export interface Behind {
  /** Gets what is typed while a turn runs. */
  readonly steering: Steering
  /** The line below the input. @param columns cells that it may take. */
  status(columns: number): string
  /** Runs a command that need not wait for the turn under way. @returns `false` for a line that has to wait. */
  runNow(line: string): boolean
}

/** The events of a turn, as they come or as they were stored. */
export type Events = AsyncIterable<QueryEvent> | Iterable<QueryEvent>

export interface Front {
  /** `false`: nobody can be asked. */
  readonly canAsk: boolean
  /** Cells of a line. */
  readonly columns: number
  readonly style: (style: Style, text: string) => string
  /** The conversation is ready. */
  attach(behind: Behind): void
  /** The next message or command; `undefined` when the user leaves. */
  next(): Promise<string | undefined>
  /** @param text fit for a terminal. */
  tell(text: string): Promise<void>
  /** Something beside the conversation, of any origin. */
  note(text: string): Promise<void>
  /** `undefined` when there is no answer. Several questions are asked one after the other. */
  choose(question: string, choices: readonly Choice[], options?: ChooseOptions): Promise<number | undefined>
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Shows a turn to its end, as `busy`. Resolves to the exit code that it deserves. */
  follow(turn: (signal: AbortSignal) => Events, calls: ToolCalls): Promise<number>
  /** Shows that something is at work until it is done. The signal is aborted when the user interrupts it, or leaves. */
  busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Calls a user who looks elsewhere. */
  ring(): Promise<void>
  /** The user leaves: whatever is at work ends. */
  leave(): void
  /** Gives the terminal back. A second call does nothing. */
  close(): Promise<void>
}

/** The reason of a signal that the user aborted. */
export function interruption(): DOMException {
  return new DOMException('Interrupted by the user.', 'AbortError')
}
