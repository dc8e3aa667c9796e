import { ConfigurationError } from './error.ts'
import type { EventBody, QueryResult } from './event.ts'
import { fromParts } from './message.ts'
import type { Message } from './message.ts'
import type { ToolResult } from './tool.ts'

export interface Folded {
  /** The last assistant message; made of the deltas when the stream ended before the message was assembled. */
  readonly message: Message | undefined
  /** The text of the last step, as a reader who honours `reset` shows it. */
  readonly text: string
  readonly toolResults: readonly ToolResult[]
  /** Present when the turn is complete. */
  readonly result: QueryResult | undefined
}

/**
 * Folds the events of a turn, or the beginning of them, into the state that they describe.
 *
 * @throws ConfigurationError when it is given no list of events.
 */
export function foldEvents(events: Iterable<EventBody & { readonly step?: number }>): Folded {
  const given: unknown = events
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw new ConfigurationError('foldEvents() takes a list of events; those of a running query() are collected first.')
  let message: Message | undefined
  let text = ''
  let thinking = ''
  let step: number | undefined
  let result: QueryResult | undefined
  const toolResults: ToolResult[] = []
  const clear = (): void => {
    text = ''
    thinking = ''
    message = undefined
  }

  for (const event of events) {
    if (event.type === 'text_delta' || event.type === 'thinking') {
      if (event.step !== step) clear()
      step = event.step
      if (event.type === 'text_delta') text += event.text
      else thinking += event.content
    } else if (event.type === 'reset') {
      clear()
    } else if (event.type === 'message') {
      message = event.message
      text = event.message.content
      step = event.step
    } else if (event.type === 'tool_result') {
      toolResults.push(event.result)
    } else if (event.type === 'complete') {
      result = event.result
    }
  }
  return { message: message ?? partialMessage(text, thinking), text, toolResults, result }
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
