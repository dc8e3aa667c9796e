/** Holds a conversation as it is sent, and makes requests of it. It grows by new messages, and no message is looked at twice. */

import type { MessageId } from '../core/id.ts'
import { fromParts } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type {
  Grounding,
  RequestMessage,
  CallSettings,
  ModelRequest,
  ResponseFormat,
  ThinkingEffort,
  ToolChoice,
  ToolSpec,
} from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import { defined } from '../util/check.ts'
import { repairHistory } from './repair.ts'
import { rememberCountOf } from './tokens.ts'
import { EMPTY_TALLY, withEstimates, withTold } from './tally.ts'
import type { Tally } from './tally.ts'

export interface Conversation {
  /** As sent: fenced, in order. Grows by each answer and its tool results. */
  readonly messages: readonly RequestMessage[]
  /** The same messages with our bookkeeping, one for one. */
  readonly said: readonly Message[]
  /** Ids of those that were composed for the turn under way: compaction leaves them alone. */
  readonly turn: ReadonlySet<MessageId>
  readonly tally: Tally
  /** Some of it is text of documents or tools. */
  readonly untrusted: boolean
  readonly grounding?: Grounding
  /** Passages that were found and had no room; absent where no documents were searched. */
  readonly dropped?: number
}

/**
 * Makes messages ready to be sent once, so that a step costs only what is new in it.
 *
 * @param history ids of what was said before this turn.
 */
export function conversationOf(
  messages: readonly RequestMessage[],
  grounding?: Grounding,
  history: ReadonlySet<string> = new Set(),
): Conversation {
  const said = messages.map(asMessage)
  return {
    messages: said.map(toRequestMessage),
    said,
    turn: new Set(said.flatMap(({ id }) => (history.has(id) ? [] : [id]))),
    tally: EMPTY_TALLY,
    untrusted: said.some(isUntrusted),
    ...(grounding === undefined ? {} : { grounding }),
  }
}

/** A summary holds what tools and documents said. */
function isUntrusted({ role, retrieved, injected, summary }: Message): boolean {
  return role === 'tool' || retrieved !== undefined || injected !== undefined || summary === true
}

/** The history in a form that a session goes on from: without instructions and looked-up data, which belong to their turn. */
export function soundHistory(history: readonly Message[]): readonly Message[] {
  const said = history.filter(
    ({ role, retrieved, injected }) =>
      SAID.has(role) && retrieved === undefined && (injected === undefined || injected.by === 'user'),
  )
  return repairHistory(said).messages.map(asMessage)
}

const SAID: ReadonlySet<Message['role']> = new Set(['user', 'assistant', 'tool'])

/** An answer, as far as it tells something about the conversation. */
export interface Answered {
  readonly message: Message
  readonly usage: Usage
  readonly model: { readonly ref: string }
  readonly cacheHit: boolean
}

/**
 * The conversation after a step: with the answer and the results of its tools.
 *
 * @param fixed tokens of what stood beside the messages in the request.
 */
export function continued(
  conversation: Conversation,
  { message, usage, model, cacheHit }: Answered,
  results: readonly Message[],
  fixed: number,
): Conversation {
  const { messages, said } = conversation
  const tally = withEstimates(conversation.tally, messages)
  return {
    ...conversation,
    messages: messages.concat(toRequestMessage(message), results.map(toRequestMessage)),
    said: said.concat(message, results),
    tally: cacheHit ? tally : withTold(tally, usage, model.ref, fixed),
    untrusted: conversation.untrusted || results.length > 0,
  }
}

/** The conversation with what the user has said in the middle of the turn; compaction leaves it alone like the question. */
export function withSaid(conversation: Conversation, added: readonly Message[]): Conversation {
  return {
    ...conversation,
    messages: conversation.messages.concat(added.map(toRequestMessage)),
    said: conversation.said.concat(added),
    turn: new Set([...conversation.turn, ...added.map(({ id }) => id)]),
  }
}

export function toRequestMessage(message: Message): RequestMessage {
  const { role, content, parts, toolCalls } = message
  rememberCountOf(message)
  return { role, content, parts, ...(toolCalls === undefined ? {} : { toolCalls }) }
}

/** A message that a repair has made has no id yet. */
export function asMessage(message: RequestMessage): Message {
  return 'id' in message ? (message as Message) : fromParts(message.role, message.parts)
}

export interface RequestOptions {
  readonly settings: CallSettings
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  readonly responseFormat?: ResponseFormat
  readonly thinking?: ThinkingEffort
  readonly stream: boolean
}

/** @param model its `ref`. The request fits any model; the model station adapts it to the one that answers. */
export function buildRequest(
  model: string,
  { messages, grounding }: Pick<Conversation, 'messages' | 'grounding'>,
  { settings, tools, toolChoice, responseFormat, thinking, stream }: RequestOptions,
): ModelRequest {
  return {
    model,
    messages,
    ...settings,
    stream,
    ...(tools.length === 0 ? {} : { tools }),
    ...defined({ toolChoice, responseFormat, thinking, grounding }),
  }
}
