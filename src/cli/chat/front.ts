/** The port to the user interface of a chat: a screen, a terminal of plain lines, or a pipe. */

import type { QueryEvent } from '../../core/event.ts'
import type { Steering } from '../../engine/steering.ts'
import type { Style } from '../io.ts'
import type { ToolCalls } from '../tool-calls.ts'

export interface Choice {
  /** The letter or number that selects it. */
  readonly key: string
  readonly label: string
}

/** Returns choices that are selected by number. */
export function numbered(labels: readonly string[]): readonly Choice[] {
  return labels.map((label, index) => ({ key: String(index + 1), label }))
}

export interface ChooseOptions {
  /** The choice that Enter takes at first; absent: none until the user has moved the selection. */
  readonly initial?: number
  readonly signal?: AbortSignal
}

/** The part of a conversation that its front reads and controls. */
export interface ConversationControls {
  /** Receives messages that are typed during a turn. */
  readonly steering: Steering
  /** Returns the status line below the input. @param columns maximum cells. */
  status(columns: number): string
  /** Runs a command that need not wait for the current turn. @returns `false` for a line that has to wait. */
  runNow(line: string): boolean
}

/** The events of a turn, live or from the journal. */
export type Events = AsyncIterable<QueryEvent> | Iterable<QueryEvent>

export interface Front {
  /** `false`: there is no user who can answer questions. */
  readonly canAsk: boolean
  /** Cells per line. */
  readonly columns: number
  readonly style: (style: Style, text: string) => string
  /** Called once, when the conversation is ready. */
  attach(controls: ConversationControls): void
  /** Resolves to the next message or command; `undefined` when the user leaves. */
  next(): Promise<string | undefined>
  /** @param text already safe for a terminal. */
  print(text: string): Promise<void>
  /** Prints a note about the conversation. The text may be untrusted. */
  note(text: string): Promise<void>
  /** Resolves to the index of a choice; `undefined` without an answer. Concurrent questions are asked one after the other. */
  choose(question: string, choices: readonly Choice[], options?: ChooseOptions): Promise<number | undefined>
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Shows a turn to its end, as `busy`. Resolves to its exit code. */
  follow(turn: (signal: AbortSignal) => Events, calls: ToolCalls): Promise<number>
  /** Shows that work is in progress until it is done. The signal is aborted when the user interrupts the work or leaves. */
  busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Rings the bell of the terminal. */
  ring(): Promise<void>
  /** Ends the chat and all work in progress. */
  leave(): void
  /** Restores the terminal. A second call does nothing. */
  close(): Promise<void>
}

/** Returns the reason of a signal that the user aborted. */
export function interruption(): DOMException {
  return new DOMException('Interrupted by the user.', 'AbortError')
}
