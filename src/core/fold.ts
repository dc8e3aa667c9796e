/** Folds the events of a turn into the state that they describe: message, text, tool results and result. */

import { ConfigurationError } from './error.ts'
import type { CallRef, EventBody, QueryResult } from './event.ts'
import { fromParts } from './message.ts'
import type { Message } from './message.ts'
import type { ToolResult } from './tool.ts'

/** The state that the events of a turn describe. */
export interface Folded {
  /** The last assistant message; built from deltas if the stream ended before its `message` event. */
  readonly message: Message | undefined
  /** The text of the last step, after applying `reset` events. */
  readonly text: string
  /** Results of all tool calls, in the order of the events. */
  readonly toolResults: readonly ToolResult[]
  /** Present once the turn is complete. */
  readonly result: QueryResult | undefined
}

/**
 * Folds the events of a turn, or the beginning of them, into the state that they describe. Those of nested turns are left out.
 *
 * @throws ConfigurationError if `events` is not a list.
 */
export function foldEvents(events: Iterable<EventBody & { readonly step?: number; readonly parent?: CallRef }>): Folded {
  const given: unknown = events
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw new ConfigurationError('foldEvents() takes a list of events: collect those of a running query() first.')
  const fold = new EventFold()
  for (const event of events) fold.add(event)
  return fold.state()
}

/** Folds events one at a time, for readers of a running stream. */
export class EventFold {
  #message: Message | undefined
  #text = ''
  #thinking = ''
  #step: number | undefined
  #result: QueryResult | undefined
  readonly #toolResults: ToolResult[] = []

  add(event: EventBody & { readonly step?: number; readonly parent?: CallRef }): void {
    if (event.parent !== undefined) return
    if (event.type === 'text_delta' || event.type === 'thinking') {
      if (event.step !== this.#step) this.#clear()
      this.#step = event.step
      if (event.type === 'text_delta') this.#text += event.text
      else this.#thinking += event.content
    } else if (event.type === 'reset') {
      this.#clear()
    } else if (event.type === 'message') {
      this.#message = event.message
      this.#text = event.message.content
      this.#step = event.step
    } else if (event.type === 'tool_result') {
      this.#toolResults.push(event.result)
    } else if (event.type === 'complete') {
      this.#result = event.result
    }
  }

  state(): Folded {
    return {
      message: this.#message ?? partialMessage(this.#text, this.#thinking),
      text: this.#text,
      toolResults: this.#toolResults,
      result: this.#result,
    }
  }

  #clear(): void {
    this.#text = ''
    this.#thinking = ''
    this.#message = undefined
  }
}

function partialMessage(text: string, thinking: string): Message | undefined {
  if (text === '' && thinking === '') return undefined
  return fromParts(
    'assistant',
    [
      ...(thinking === '' ? [] : [{ type: 'thinking' as const, text: thinking }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ],
    { id: 'partial' },
  )
}
