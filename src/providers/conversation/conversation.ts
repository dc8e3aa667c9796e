/** A conversation as an API of a given style takes it, before it is written in the words of the API. */

import { CriaError } from '../../core/error.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { RequestMessage } from '../../core/model.ts'
import type { FilePart, ImagePart, Part, ProviderData } from '../../core/part.ts'
import { asObject } from '../wire/json.ts'
import { acceptedId, wellFormed, wellFormedJson } from './names.ts'
import type { ToolNames } from './names.ts'
import { fromProviderData } from './own-data.ts'
import type { Style } from './style.ts'

export interface ConversationContext {
  /** `provider/model` that is asked: what belongs to another does not go along. */
  readonly ref: string
  readonly style: Style
  readonly names: ToolNames
}

/** What the provider wants back with a part, by provider name. */
type Data = Readonly<Record<string, JsonObject>>
export type Attachment = ImagePart | FilePart
type Text = { readonly type: 'text'; readonly text: string; readonly own?: Data }

export type AnswerPart =
  | Text
  | { readonly type: 'thinking'; readonly text: string; readonly own?: Data }
  /** `input` is always an object: no API takes anything else. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: JsonObject; readonly own?: Data }
  | { readonly type: 'opaque'; readonly own: Data }
  | Attachment

export interface Result {
  readonly id: string
  readonly name: string
  /** Never empty. */
  readonly text: string
  readonly isError: boolean
  readonly attachments: readonly Attachment[]
}

export type Turn =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly parts: readonly (Text | Attachment)[] }
  | { readonly role: 'assistant'; readonly parts: readonly AnswerPart[] }
  | { readonly role: 'tool'; readonly results: readonly Result[] }

/** Empty texts and messages are left out: no provider takes them. @throws CriaError `internal` for a retrieved message that was not fenced. */
export function toConversation(messages: readonly RequestMessage[], context: ConversationContext): Turn[] {
  const turns: Turn[] = []
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  messages.forEach((message, index) => {
    switch (message.role) {
      case 'system':
      case 'developer':
        addInstructions(turns, message, context)
        break
      case 'user':
        addUser(turns, message, context)
        break
      case 'assistant':
        addAnswer(turns, message, context, index > lastUser)
        break
      case 'tool':
        addResults(turns, message, context)
        break
      case 'retrieved':
        throw new CriaError(
          'internal',
          'A retrieved message has reached a provider: it has to be fenced and given the user role before.',
        )
    }
  })
  if (context.style.begins === 'user') begin(turns)
  return context.style.attachments === 'user-message' ? withAttachmentsApart(turns, context.style) : turns
}

/** A greeting of ours, or a conversation whose beginning is gone. */
function begin(turns: Turn[]): void {
  const first = turns.findIndex(({ role }) => role !== 'system')
  if (turns[first]?.role === 'assistant') turns.splice(first, 0, said('user', '(The assistant speaks first.)'))
}

function said(role: 'user' | 'assistant', text: string): Turn {
  return { role, parts: [{ type: 'text', text }] }
}

function addInstructions(turns: Turn[], message: RequestMessage, { style }: ConversationContext): void {
  if (message.content.trim() === '') return
  const instructions: Turn = { role: 'system', text: wellFormed(message.content) }
  const firstOther = turns.findIndex(({ role }) => role !== 'system')
  if (style.instructions === 'top' && firstOther >= 0) turns.splice(firstOther, 0, instructions)
  else turns.push(instructions)
}

function addUser(turns: Turn[], message: RequestMessage, { style }: ConversationContext): void {
  const parts = message.parts.flatMap((part): (Text | Attachment)[] => {
    if (part.type === 'text' && part.text.trim() !== '') return [{ type: 'text', text: wellFormed(part.text) }]
    return part.type === 'image' || part.type === 'file' ? [part] : []
  })
  if (parts.length === 0) return
  const last = turns.at(-1)
  if (style.mergeUsers && last?.role === 'user') {
    turns[turns.length - 1] = { role: 'user', parts: joined([...last.parts, ...parts]) }
    return
  }
  // The turn was interrupted there.
  if (style.answersBeforeUser && last?.role === 'tool') turns.push(said('assistant', '(There was no answer.)'))
  turns.push({ role: 'user', parts })
}

/** What is text alone becomes one text: some servers take nothing else where there is no file. */
function joined(parts: readonly (Text | Attachment)[]): readonly (Text | Attachment)[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length < parts.length ? parts : [{ type: 'text', text: texts.join('\n\n') }]
}

function addAnswer(turns: Turn[], message: RequestMessage, context: ConversationContext, isInThisTurn: boolean): void {
  const { mergeAnswers, endsInThinking } = context.style
  const all = message.parts.flatMap((part) => toAnswerPart(part, context, isInThisTurn))
  const parts = endsInThinking ? all : all.slice(0, all.findLastIndex(({ type }) => type !== 'thinking') + 1)
  if (parts.length === 0) return
  const last = turns.at(-1)
  if (mergeAnswers && last?.role === 'assistant')
    turns[turns.length - 1] = { role: 'assistant', parts: [...last.parts, ...parts] }
  else turns.push({ role: 'assistant', parts })
}

function toAnswerPart(part: Part, { ref, style, names }: ConversationContext, isInThisTurn: boolean): AnswerPart[] {
  switch (part.type) {
    case 'text': {
      const own = ownOf(part.providerData, ref)
      if (part.text.trim() === '' && !(style.emptySignedText && own.own !== undefined)) return []
      return [{ type: 'text', text: wellFormed(part.text), ...own }]
    }
    case 'thinking': {
      if (part.model !== undefined && part.model !== ref) return []
      const own = ownOf(part.providerData, ref)
      const goesBack =
        style.thinking === 'signed' ? own.own !== undefined : style.thinking === 'turn' && isInThisTurn && part.text !== ''
      return goesBack ? [{ type: 'thinking', text: wellFormed(part.text), ...own }] : []
    }
    case 'tool-call': {
      const id = acceptedId(part.id, style.callIds)
      const own = ownOf(part.providerData, ref)
      return [{ type: 'tool-call', id, name: names.out(part.name), input: toInput(part.input), ...own }]
    }
    case 'image':
    case 'file':
      return style.filesInAnswers && !isUrl(part.data) ? [part] : []
    case 'opaque': {
      const { own } = ownOf(part.providerData, ref)
      return own === undefined ? [] : [{ type: 'opaque', own }]
    }
    default:
      return []
  }
}

function ownOf(providerData: ProviderData | undefined, ref: string): { readonly own?: Data } {
  const own = fromProviderData(providerData, ref)
  return own === undefined || Object.keys(own).length === 0 ? {} : { own }
}

/** Arguments that are not an object, or not JSON, are wrapped, so that the model sees what it has done. */
function toInput(input: Json): JsonObject {
  const object = asObject(wellFormedJson(input))
  return object ?? { invalid_arguments: wellFormedJson(input) }
}

const NO_OUTPUT = '(no output)'

function addResults(turns: Turn[], message: RequestMessage, { names, style }: ConversationContext): void {
  const results = message.parts.flatMap((part): Result[] => {
    if (part.type !== 'tool-result') return []
    const text = part.content.trim() === '' ? NO_OUTPUT : wellFormed(part.content)
    const { isError, attachments = [] } = part
    return [{ id: acceptedId(part.id, style.callIds), name: names.out(part.name), text, isError, attachments }]
  })
  if (results.length === 0) return
  const last = turns.at(-1)
  // The results of one message's calls belong together.
  if (last?.role === 'tool') turns[turns.length - 1] = { role: 'tool', results: [...last.results, ...results] }
  else turns.push({ role: 'tool', results })
}

/** Where a tool result can only be text, what came beside it follows as a message of the user. */
function withAttachmentsApart(turns: readonly Turn[], { answersBeforeUser }: Style): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== 'tool' || turn.results.every(({ attachments }) => attachments.length === 0)) return [turn]
    const parts = turn.results.flatMap(({ id, name, attachments }): (Text | Attachment)[] =>
      attachments.length === 0 ? [] : [{ type: 'text', text: `Returned by the tool ${name} (call ${id}):` }, ...attachments],
    )
    const results = turn.results.map((result) => ({ ...result, attachments: [] }))
    return [
      { role: 'tool', results },
      ...(answersBeforeUser ? [said('assistant', '(What the tools have attached follows.)')] : []),
      { role: 'user', parts },
    ]
  })
}

export function isUrl(data: string): boolean {
  return /^https?:\/\//i.test(data)
}

/** Base64 data as a URL; a URL as it is. */
export function dataUrl({ mediaType, data }: Attachment): string {
  return isUrl(data) ? data : `data:${mediaType};base64,${data}`
}
