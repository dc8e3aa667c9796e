/** Reads the messages that a turn adds to its session, in a form that every provider accepts. */

import type { QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { messageId } from '../core/id.ts'
import { fromParts, toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolResult } from '../core/tool.ts'

export interface SpokenTurn {
  readonly turnId: string
  /** All messages of the turn, in order. */
  readonly messages: readonly Message[]
  /** Results that were shown, for calls whose messages were never written. */
  readonly toolResults: readonly ToolResult[]
  /** Text that was shown of a message that never became whole; empty where there was none. */
  readonly unfinished: string
}

/** Id that `foldEvents` gives to a message which it had to make of deltas. */
const UNFINISHED = 'partial'

/** @param events of a turn that did not finish: what it showed beyond its messages. Empty for one that did, which has all of its messages. */
export function spokenIn(turnId: string, messages: readonly Message[], events: readonly QueryEvent[]): Message[] {
  if (messages.length === 0) return []
  const { message, text, toolResults } = foldEvents(events)
  return spokenMessages({ turnId, messages, toolResults, unfinished: message?.id === UNFINISHED ? text : '' })
}

/**
 * What a conversation was compacted to, without the question of a turn that never got an answer.
 *
 * @param own messages of the turn that compacted it.
 */
export function compactedTo(messages: readonly Message[], own: readonly Pick<Message, 'id' | 'role'>[]): readonly Message[] {
  if (own.some(({ role }) => role === 'assistant')) return messages
  const asked = new Set(own.map(({ id }) => id))
  return messages.filter((message) => message.summary === true || !asked.has(message.id))
}

/** Empty for a turn without any answer: a question alone would stand beside the next one, which providers refuse. */
export function spokenMessages(turn: SpokenTurn): Message[] {
  const spoken: Message[] = []
  // A summary is part of what the session was compacted to, or of nothing.
  const said = withoutRejected(turn.messages).filter((message) => message.retrieved === undefined && message.summary !== true)
  for (const [index, message] of said.entries()) {
    if (message.role === 'user') spoken.push(message)
    else if (message.role === 'assistant' && saysSomething(message)) {
      spoken.push(message, ...answersTo(message, toolMessagesFrom(said, index + 1), turn))
    }
  }
  if (turn.unfinished.trim() !== '') {
    spoken.push(fromParts('assistant', [{ type: 'text', text: turn.unfinished }], { id: `${turn.turnId}_unfinished` }))
  }
  return spoken.some((message) => message.role === 'assistant') ? spoken : []
}

/** Leaves out each answer that was rejected, and the message that rejected it. */
function withoutRejected(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role, rejects }, at) => {
    const isRejected = role === 'assistant' && messages[at + 1]?.rejects === true
    return rejects !== true && !isRejected
  })
}

function saysSomething(message: Message): boolean {
  return message.content.trim() !== '' || message.toolCalls !== undefined
}

function toolMessagesFrom(messages: readonly Message[], start: number): readonly Message[] {
  let end = start
  while (messages[end]?.role === 'tool') end += 1
  return messages.slice(start, end)
}

/** One result for each call of a message, directly behind it and in the order of the calls. */
function answersTo(message: Message, written: readonly Message[], turn: SpokenTurn): Message[] {
  return (message.toolCalls ?? []).map(({ id, name }) => {
    const answer = written.find(({ parts }) => parts.some((part) => part.type === 'tool-result' && part.id === id))
    if (answer !== undefined) return answer
    const shown = turn.toolResults.findLast((result) => result.id === id)
    return withId(
      shown === undefined
        ? toolResult({ id, name, content: 'Not run: the turn ended before this tool was started.', isError: true })
        : toolResult({ id, name, ...outcomeOf(shown) }),
      `${turn.turnId}_${id}`,
    )
  })
}

function outcomeOf({ content, isError, unknownEffects }: ToolResult): Pick<ToolResult, 'content' | 'isError' | 'unknownEffects'> {
  return { content, isError, ...(unknownEffects === undefined ? {} : { unknownEffects }) }
}

function withId(message: Message, id: string): Message {
  return { ...message, id: messageId(id) }
}
