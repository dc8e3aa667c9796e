/** Holds the input of a turn and its conversation as sent, and builds requests from it. Each message is processed once. */

import type { MessageId } from '../core/id.ts'
import type { ContextSource, EarlierRead } from '../core/injection.ts'
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
import type { RetrievalOptions } from './retrieve.ts'
import { rememberCountOf } from './tokens.ts'
import { EMPTY_TALLY, withEstimates, withReported } from './tally.ts'
import type { Tally } from './tally.ts'

/** The input of a turn. */
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

export interface Conversation {
  /** The messages as sent, fenced and in order. Grows with each answer and its tool results. */
  readonly messages: readonly RequestMessage[]
  /** The same messages with the engine's bookkeeping, one to one. */
  readonly said: readonly Message[]
  /** Ids of messages composed for the current turn, which compaction keeps. */
  readonly turn: ReadonlySet<MessageId>
  readonly tally: Tally
  /** `true`: holds text of documents or tools. */
  readonly untrusted: boolean
  readonly grounding?: Grounding
  /** Number of passages dropped for lack of room; absent if no documents were searched. */
  readonly dropped?: number
}

/**
 * Prepares messages for sending once, so that the cost of a step depends only on its new messages.
 *
 * @param history ids of messages before this turn.
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

/** Returns `true` for text of tools and documents; summaries may hold such text, too. */
function isUntrusted({ role, retrieved, injected, summary }: Message): boolean {
  return role === 'tool' || retrieved !== undefined || injected !== undefined || summary === true
}

/** Returns the history with which a session continues: without instructions and retrieved data, which belong to their turn. */
export function soundHistory(history: readonly Message[]): readonly Message[] {
  const said = history.filter(
    ({ role, retrieved, injected }) =>
      SAID.has(role) && retrieved === undefined && (injected === undefined || injected.by === 'user'),
  )
  return repairHistory(said).messages.map(asMessage)
}

const SAID: ReadonlySet<Message['role']> = new Set(['user', 'assistant', 'tool'])

/** The facts of an answer that affect the conversation. */
export interface Answered {
  readonly message: Message
  readonly usage: Usage
  readonly model: { readonly ref: string }
  readonly cacheHit: boolean
}

/**
 * Appends the answer of a step and the results of its tools.
 *
 * @param fixed tokens of the request beside its messages.
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
    tally: cacheHit ? tally : withReported(tally, usage, model.ref, fixed),
    untrusted: conversation.untrusted || results.length > 0,
  }
}

/** Appends user messages that arrived during the turn; compaction keeps them, like the question. */
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

/** Converts back to a message; adds an id to one that a repair has made. */
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

/** Builds a request for any model; the model station adapts it. @param model the `ref` of the model. */
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
