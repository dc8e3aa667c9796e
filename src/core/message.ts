/**
 * One message model for everything.
 *
 * Words, here and everywhere: *session* a conversation, *turn* one question to its answer, *step* one model call with its
 * tools, *attempt* one try of one model call, *event* what we stream, *part* a piece of a message (`Part`) or of what a provider
 * streams (`ModelPart`), *chunk* a piece of a document, *passage* what a model is sent of the chunks that were found.
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

/** Where the text of a retrieved message comes from, and how it may be cited. */
export interface Retrieved {
  /** The number that the model writes in square brackets to cite it: `1`, `2`, … in rank order over the whole request. */
  readonly marker: string
  /** Where the passage was found. */
  readonly origin: 'docstore' | 'memory'
  /** The name of the store. */
  readonly store: string
  /** The passage. */
  readonly chunk: ScoredChunk
  /** Other places that were found and say the same in the same words. */
  readonly alsoIn?: readonly Place[]
}

/** A message of a conversation. */
export interface Message {
  /** Names the message in the journal. */
  readonly id: MessageId
  /** The speaker. */
  readonly role: Role
  /** The text of `parts`, joined. Thinking, calls and results are no text. */
  readonly content: string
  /** Text, images, thinking, tool calls and the like, in order. */
  readonly parts: readonly Part[]
  /** The tool-call parts, where there are any. */
  readonly toolCalls?: readonly ToolCallPart[]
  /** Present on what came out of a store, also after it was fenced and given a role that providers know. */
  readonly retrieved?: Retrieved
  /** Present on data beside what was said. With the role `user` it was handed over and stays in the session's history, else it is there for one turn. */
  readonly injected?: Injected
  /** The prompt that made it, where it is one that `prompt()` made. Kept with the turn, not with the message. */
  readonly prompt?: PromptVersion
  /** Compaction never drops a pinned message. */
  readonly pinned?: boolean
  /** A summary of messages that had to make room. */
  readonly summary?: boolean
  /** Says what is wrong with the answer before it. The session goes on without this message and without that answer. */
  readonly rejects?: boolean
}

/** A message as people write it: content and parts may be left out, the other is derived. */
export interface MessageLike {
  /** Names the message in the journal; default a new id. */
  readonly id?: string
  /** The speaker. */
  readonly role: Role
  /** The text; either this or `parts`. */
  readonly content?: string
  /** Text, images, thinking, tool calls and the like, in order. */
  readonly parts?: readonly Part[]
  /** Counts where no part is a call. */
  readonly toolCalls?: readonly Omit<ToolCallPart, 'type'>[]
  /** The passage that this message is, for messages that carry one. */
  readonly retrieved?: Retrieved
  /** Compaction keeps this message as it is; default false. */
  readonly pinned?: boolean
  /** This message stands for older ones that were compacted; default false. */
  readonly summary?: boolean
}

/** Whatever can be asked: text, a message, or a list of these. */
export type MessageInput = string | FilledPrompt | MessageLike | Message | readonly MessageInput[]
/** A piece of a user message: text, or what `image()` and `file()` make. */
export type UserPart = TextPart | ImagePart | FilePart
/** The parts of a user message. */
export type Content = string | FilledPrompt | readonly UserPart[]

/** Makes a system message. */
export const system = (content: string): Message => said('system', content)
/** Makes a message of the application to the model, below the system prompt. */
export const developer = (content: string): Message => said('developer', content)
/**
 * A message of the user: texts, images and files in the order given, `user('What is this?', image('a.png'))`.
 *
 * @throws ConfigurationError when an argument is neither a text nor a part.
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

/** The answer to a tool call. @throws ConfigurationError when it has no id, name or content. */
export function toolResult(result: Omit<ToolResultPart, 'type' | 'isError'> & { readonly isError?: boolean }): Message {
  const parts: readonly ToolResultPart[] = [{ type: 'tool-result', ...result, isError: result?.isError ?? false }]
  checkParts(parts, 'toolResult()')
  return fromParts('tool', parts)
}

/** @throws ConfigurationError when it is neither a text nor parts. */
function said(role: Role, content: string | readonly Part[]): Message {
  if (typeof content === 'string') return fromParts(role, textParts(content))
  if (!Array.isArray(content))
    throw new ConfigurationError(
      `${role}() takes a text or a list of parts, but got ${content === null ? 'null' : typeof content}.`,
    )
  checkParts(content, `${role}()`)
  return fromParts(role, content)
}

/** Anything but a list counts, so that the check of the parts names what is wrong with it. */
function isPart(content: Content | UserPart): content is UserPart {
  return typeof content === 'object' && content !== null && !Array.isArray(content) && !isFilledPrompt(content)
}

function versionOf({ name, hash, template }: PromptVersion): PromptVersion {
  return { name, hash, template }
}

/** A chunk as a message of the `retrieved` role; its content is the bare text of the chunk. */
export function retrieved(info: Retrieved): Message {
  return fromParts('retrieved', textParts(info.chunk.text), { retrieved: info })
}

/** Makes a message of injected context, for one turn: instructions where the user trusts them, else data. */
export function injected(text: string, info: Injected): Message {
  return fromParts(info.isTrusted === true ? 'system' : 'retrieved', textParts(text), { injected: info })
}

/**
 * A text that the user hands over as data, such as a file or standard input. Models get it fenced and labelled; it is not searched for, and it
 * stays in the session's history.
 */
export function handedOver(text: string, from: { readonly title: string; readonly source: string }): Message {
  return fromParts('user', textParts(text), { injected: { by: 'user', ...from } })
}

const EXTRAS = ['retrieved', 'injected', 'prompt', 'pinned', 'summary', 'rejects'] as const
type MessageExtras = { readonly id?: string } & { readonly [Name in (typeof EXTRAS)[number]]?: Message[Name] | undefined }

/** The one place where a message is put together; `content` and `toolCalls` are derived from the parts. */
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

/** The text of parts, joined without a separator; for a tool message the content of its results. */
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
 * Idempotent: what is a message already is returned as it is.
 *
 * @throws ConfigurationError for anything else, naming its place in the list.
 */
export function toMessages(input: MessageInput): Message[] {
  const messages: Message[] = []
  collect(input, 'messages', messages)
  return messages
}

/** Deeper lists contain themselves, or might as well. */
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
      `${place}.${foreign} belongs to the messages of another API. Here calls and results are parts: { type: 'tool-call', id, name, input }, and what toolResult({ id, name, content }) makes.`,
    )
  }
  return fromParts(like.role, partsOf(like, place), {
    ...(like.id === undefined ? {} : { id: like.id }),
    retrieved: like.retrieved,
    pinned: like.pinned,
    summary: like.summary,
  })
}

/** Members in which other APIs keep what would be lost here without a word. */
const FOREIGN = ['tool_calls', 'tool_call_id', 'function_call'] as const

function holdsSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

function isMessage(like: Partial<Message>): boolean {
  if (typeof like.id !== 'string' || typeof like.content !== 'string' || !Array.isArray(like.parts)) return false
  return like.content === textOf(like.parts) && (like.toolCalls !== undefined) === holdsCall(like.parts)
}

/** Whatever was said in one form only: text without parts or beside those that have none, calls beside them. */
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
