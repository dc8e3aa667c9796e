/**
 * The one message model of the package.
 *
 * Terms: *session* a conversation, *turn* one question and the work up to its answer, *step* one model call with its tools,
 * *attempt* one try of one model call, *event* an element of the stream of `query()`, *part* a piece of a message (`Part`) or of a
 * provider's stream (`ModelPart`), *chunk* a piece of a document, *passage* the text sent to a model for the chunks that were found.
 */

import { checkParts, checkRetrieved } from './part.ts'
import { ConfigurationError } from './error.ts'
import { createId, messageId } from './id.ts'
import type { MessageId } from './id.ts'
import type { Injected } from './injection.ts'
import { isFilledPrompt, promptText } from './prompt.ts'
import type { FilledPrompt, PromptVersion } from './prompt.ts'
import type { FilePart, ImagePart, Part, TextPart, ToolCallPart, ToolResultPart } from './part.ts'
import type { Place, ScoredChunk } from './store.ts'

/** `retrieved` is text from a document, a memory or the surroundings: data, never instructions. */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'retrieved'

export const ROLES: readonly Role[] = ['system', 'developer', 'user', 'assistant', 'tool', 'retrieved']

/** Origin of a retrieved message, and the marker to cite it by. */
export interface Retrieved {
  /** The number that the model writes in square brackets to cite it: `1`, `2`, … in rank order over the whole request. */
  readonly marker: string
  /** Kind of the store in which the passage was found. */
  readonly origin: 'docstore' | 'memory'
  /** The name of the store. */
  readonly store: string
  /** The passage. */
  readonly chunk: ScoredChunk
  /** Other places that were found with the same text. */
  readonly alsoIn?: readonly Place[]
}

/** A message of a conversation. */
export interface Message {
  /** Names the message in the journal. */
  readonly id: MessageId
  /** The speaker. */
  readonly role: Role
  /** The text parts of `parts`, joined; without thinking and tool calls. */
  readonly content: string
  /** Text, images, thinking, tool calls and the like, in order. */
  readonly parts: readonly Part[]
  /** The tool-call parts; absent if there are none. */
  readonly toolCalls?: readonly ToolCallPart[]
  /** Present on text from a store, also after it was fenced and given a role that providers know. */
  readonly retrieved?: Retrieved
  /** Present on injected data. With the role `user` the user supplied it and it stays in the session's history; otherwise it lasts one turn. */
  readonly injected?: Injected
  /** Version of the `prompt()` this message was made from, if any. Stored with the turn, not with the message. */
  readonly prompt?: PromptVersion
  /** Compaction never drops a pinned message. */
  readonly pinned?: boolean
  /** A summary that replaces compacted messages. */
  readonly summary?: boolean
  /** Rejects the answer before it and says why. The session continues without this message and that answer. */
  readonly rejects?: boolean
}

/** A message as callers write it: with `content` or `parts`; the other is derived. */
export interface MessageLike {
  /** Names the message in the journal; default a new id. */
  readonly id?: string
  /** The speaker. */
  readonly role: Role
  /** The text; give this or `parts`. */
  readonly content?: string
  /** Text, images, thinking, tool calls and the like, in order. */
  readonly parts?: readonly Part[]
  /** Used if no part is a tool call. */
  readonly toolCalls?: readonly Omit<ToolCallPart, 'type'>[]
  /** The passage that this message carries, if any. */
  readonly retrieved?: Retrieved
  /** Compaction keeps this message unchanged; default false. */
  readonly pinned?: boolean
  /** This message summarises older messages that were compacted; default false. */
  readonly summary?: boolean
}

/** Input of a turn: text, a message, or a list of these. */
export type MessageInput = string | FilledPrompt | MessageLike | Message | readonly MessageInput[]
/** A piece of a user message: text, or what `image()` and `file()` make. */
export type UserPart = TextPart | ImagePart | FilePart
/** The content of a user message: text, a filled prompt, or parts. */
export type Content = string | FilledPrompt | readonly UserPart[]

/** Makes a system message. */
export const system = (content: string): Message => said('system', content)
/** Makes a developer message: instructions of the application, with less authority than the system prompt. */
export const developer = (content: string): Message => said('developer', content)
/**
 * Makes a user message of texts, images and files, in the order given: `user('What is this?', image('a.png'))`.
 *
 * @throws ConfigurationError if an argument is neither a text nor a part.
 */
export const user = (content: Content | UserPart, ...more: readonly (Content | UserPart)[]): Message => {
  if (more.length === 0 && (typeof content === 'string' || Array.isArray(content))) return said('user', content)
  const all = [content, ...more]
  if (all.length === 1 && !isPart(content) && !isFilledPrompt(content)) return said('user', content)
  const message = said(
    'user',
    all.flatMap((each): readonly Part[] => {
      if (typeof each === 'string' || isFilledPrompt(each)) return textParts(promptText(each))
      return isPart(each) ? [each] : each
    }),
  )
  const prompt = all.find(isFilledPrompt)
  return prompt === undefined ? message : { ...message, prompt: versionOf(prompt) }
}
/** Makes a message of the assistant, of text or of parts. */
export const assistant = (content: string | readonly Part[]): Message => said('assistant', content)

/** Makes the message that answers a tool call. @throws ConfigurationError if it has no id, name or content. */
export function toolResult(result: Omit<ToolResultPart, 'type' | 'isError'> & { readonly isError?: boolean }): Message {
  const parts: readonly ToolResultPart[] = [{ type: 'tool-result', ...result, isError: result?.isError ?? false }]
  checkParts(parts, 'toolResult()')
  return fromParts('tool', parts)
}

/** @throws ConfigurationError if `content` is neither a text nor parts. */
function said(role: Role, content: string | readonly Part[]): Message {
  if (typeof content === 'string') return fromParts(role, textParts(content))
  if (!Array.isArray(content))
    throw new ConfigurationError(
      `${role}() takes a text or a list of parts, but got ${content === null ? 'null' : typeof content}.`,
    )
  checkParts(content, `${role}()`)
  return fromParts(role, content)
}

/** Accepts any object but a list, so that the check of the parts reports the fault. */
function isPart(content: Content | UserPart): content is UserPart {
  return typeof content === 'object' && content !== null && !Array.isArray(content) && !isFilledPrompt(content)
}

function versionOf({ name, hash, template }: PromptVersion): PromptVersion {
  return { name, hash, template }
}

/** Makes a message with the role `retrieved`; its content is the unfenced text of the chunk. */
export function retrieved(info: Retrieved): Message {
  return fromParts('retrieved', textParts(info.chunk.text), { retrieved: info })
}

/** Makes a message of injected context for one turn: a system message if trusted, else data. */
export function injected(text: string, info: Injected): Message {
  return fromParts(info.isTrusted === true ? 'system' : 'retrieved', textParts(text), { injected: info })
}

/**
 * Makes a message of data that the user supplies, such as a file or standard input. Models receive it fenced and labelled. It is not used
 * as a search query, and stays in the session's history.
 */
export function handedOver(text: string, from: { readonly title: string; readonly source: string }): Message {
  return fromParts('user', textParts(text), { injected: { by: 'user', ...from } })
}

const EXTRAS = ['retrieved', 'injected', 'prompt', 'pinned', 'summary', 'rejects'] as const
type MessageExtras = { readonly id?: string } & { readonly [Name in (typeof EXTRAS)[number]]?: Message[Name] | undefined }

/** Creates a message; the only place that does. Derives `content` and `toolCalls` from the parts. */
export function fromParts(role: Role, parts: readonly Part[], extras: MessageExtras = {}): Message {
  const toolCalls = parts.filter((part) => part.type === 'tool-call')
  const given = EXTRAS.filter((name) => extras[name] !== undefined)
  return {
    id: messageId(extras.id ?? createId('msg')),
    role,
    content: textOf(parts),
    parts,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...Object.fromEntries(given.map((name) => [name, extras[name]])),
  }
}

/** Joins the text of parts without a separator; for a tool message, the content of its results. */
export function textOf(parts: readonly Part[]): string {
  let text = ''
  for (const part of parts) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'tool-result') text += part.content
  }
  return text
}

/**
 * Normalises strings (user messages), message-like objects, messages and nested lists of these to a flat list of messages.
 * Idempotent: a complete message is returned unchanged.
 *
 * @throws ConfigurationError for any other value, naming its place in the list.
 */
export function toMessages(input: MessageInput): Message[] {
  const messages: Message[] = []
  collect(input, 'messages', messages)
  return messages
}

/** Limit of nesting, so that a list that contains itself is rejected. */
const DEEPEST = 100

function collect(input: unknown, place: string, into: Message[], depth = 0): void {
  if (typeof input === 'string' || isFilledPrompt(input)) {
    into.push(user(input))
  } else if (Array.isArray(input)) {
    if (depth > DEEPEST) throw new ConfigurationError(`${place.slice(0, 40)}… is nested too deeply: give one list of messages.`)
    input.forEach((item, index) => collect(item, `${place}[${index}]`, into, depth + 1))
  } else {
    into.push(toMessage(input, place))
  }
}

function toMessage(input: unknown, place: string): Message {
  if (typeof input !== 'object' || input === null) {
    throw new ConfigurationError(
      `${place} must be a string, a message or a list of these, but is ${input === null ? 'null' : typeof input}.`,
    )
  }
  const like = input as Partial<Message>
  if (like.role === undefined || !ROLES.includes(like.role)) {
    throw new ConfigurationError(`${place}.role must be one of ${ROLES.join(', ')}, but is ${JSON.stringify(like.role)}.`)
  }
  if (like.parts !== undefined) checkParts(like.parts, `${place}.parts`)
  if (like.retrieved !== undefined) checkRetrieved(like.retrieved, `${place}.retrieved`)
  if (isMessage(like)) return like as Message
  const foreign = FOREIGN.find((name) => holdsSomething(Reflect.get(input, name)))
  if (foreign !== undefined) {
    throw new ConfigurationError(
      `${place}.${foreign} belongs to the messages of another API. Here calls and results are parts: { type: 'tool-call', id, name, input }, and the message that toolResult({ id, name, content }) makes.`,
    )
  }
  return fromParts(like.role, partsOf(like, place), {
    ...(like.id === undefined ? {} : { id: like.id }),
    retrieved: like.retrieved,
    pinned: like.pinned,
    summary: like.summary,
  })
}

/** Members of other APIs' messages that would otherwise be ignored silently. */
const FOREIGN = ['tool_calls', 'tool_call_id', 'function_call'] as const

function holdsSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

function isMessage(like: Partial<Message>): boolean {
  if (typeof like.id !== 'string' || typeof like.content !== 'string' || !Array.isArray(like.parts)) return false
  return like.content === textOf(like.parts) && (like.toolCalls !== undefined) === holdsCall(like.parts)
}

/** Merges `content` and `toolCalls` into the parts, unless the parts already hold text or calls. */
function partsOf({ content, parts, toolCalls: given }: Partial<Message>, place: string): readonly Part[] {
  const toolCalls = given ?? []
  if (!Array.isArray(given ?? [])) throw new ConfigurationError(`${place}.toolCalls must be a list of calls.`)
  if (parts === undefined && toolCalls.length === 0 && typeof content !== 'string') {
    throw new ConfigurationError(`${place} has neither a content string nor parts.`)
  }
  const said = withText(parts ?? [], typeof content === 'string' ? content : '')
  if (toolCalls.length === 0 || holdsCall(said)) return said
  const calls = toolCalls.map((call): ToolCallPart => ({ ...call, type: 'tool-call' }))
  checkParts(calls, `${place}.toolCalls`)
  return [...said, ...calls]
}

function withText(parts: readonly Part[], content: string): readonly Part[] {
  if (parts.some(({ type }) => type === 'text' || type === 'tool-result')) return parts
  // Providers want thinking first.
  const first = parts.findIndex(({ type }) => type !== 'thinking')
  return parts.toSpliced(first === -1 ? parts.length : first, 0, ...textParts(content))
}

function holdsCall(parts: readonly Part[]): boolean {
  return parts.some(({ type }) => type === 'tool-call')
}

function textParts(text: string): readonly TextPart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}
