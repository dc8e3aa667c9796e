/** Converts messages to the turns that an API of a given style accepts; its encoder then writes them as JSON. */

import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { RequestMessage } from '../../core/model.ts'
import type { FilePart, ImagePart, Part } from '../../core/part.ts'
import { asObject } from '../wire/json.ts'
import { acceptedId, wellFormed, wellFormedJson } from './names.ts'
import type { ToolNames } from './names.ts'
import { fromProviderData } from './own-data.ts'
import type { Style } from './style.ts'

export interface ConversationContext {
  /** `provider/model` of the request: data that belongs to another model is left out. */
  readonly ref: string
  readonly style: Style
  readonly names: ToolNames
}

/** Data that the provider wants back with a part, by provider name. */
type Data = Readonly<Record<string, JsonObject>>
export type Attachment = ImagePart | FilePart
type Text = { readonly type: 'text'; readonly text: string; readonly own?: Data }

export type AnswerPart =
  | Text
  | { readonly type: 'thinking'; readonly text: string; readonly own?: Data }
  /** `input` is always an object, as every API requires. */
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

/** Leaves out empty texts and messages, which providers refuse. @throws CriaError `internal` for a retrieved message that was not fenced. */
export function toConversation(messages: readonly RequestMessage[], context: ConversationContext): Turn[] {
  const { style } = context
  const turns: Turn[] = []
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'developer') addInstructions(turns, message, style)
    else if (message.role === 'user') addUser(turns, message, style)
    else if (message.role === 'assistant') addAnswer(turns, message, context, index > lastUser)
    else if (message.role === 'tool') addResults(turns, message, context)
    else
      throw new CriaError(
        'internal',
        'A retrieved message has reached a provider: it must be fenced and given the user role first.',
      )
  }
  const first = turns.findIndex(({ role }) => role !== 'system')
  // The conversation begins with a greeting, or its beginning was cut.
  if (style.begins === 'user' && turns[first]?.role === 'assistant')
    turns.splice(first, 0, said('user', '(The assistant speaks first.)'))
  return style.attachments === 'user-message' ? withAttachmentsApart(turns, style) : turns
}

function said(role: 'user' | 'assistant', text: string): Turn {
  return { role, parts: [{ type: 'text', text }] }
}

function addInstructions(turns: Turn[], { content }: RequestMessage, style: Style): void {
  if (content.trim() === '') return
  const firstOther = turns.findIndex(({ role }) => role !== 'system')
  const at = style.instructions === 'top' && firstOther >= 0 ? firstOther : turns.length
  turns.splice(at, 0, { role: 'system', text: wellFormed(content) })
}

function addUser(turns: Turn[], message: RequestMessage, style: Style): void {
  const parts = message.parts.flatMap((part): (Text | Attachment)[] => {
    if (part.type === 'text' && part.text.trim() !== '') return [{ type: 'text', text: wellFormed(part.text) }]
    return part.type === 'image' || part.type === 'file' ? [part] : []
  })
  if (parts.length === 0) return
  const last = turns.at(-1)
  if (style.alternates && last?.role === 'user') {
    turns[turns.length - 1] = { role: 'user', parts: joined([...last.parts, ...parts]) }
    return
  }
  // The turn was interrupted after its tool results.
  if (style.alternates && last?.role === 'tool') turns.push(said('assistant', '(There was no answer.)'))
  turns.push({ role: 'user', parts })
}

/** Joins parts into one if all are text: some servers require a single text where there is no file. */
function joined(parts: readonly (Text | Attachment)[]): readonly (Text | Attachment)[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length < parts.length ? parts : [{ type: 'text', text: texts.join('\n\n') }]
}

function addAnswer(turns: Turn[], message: RequestMessage, context: ConversationContext, isInThisTurn: boolean): void {
  const { mergeAnswers, endsInThinking } = context.style
  const all = message.parts.flatMap((part) => toAnswerPart(part, context, isInThisTurn))
  const parts = endsInThinking ? all : all.slice(0, all.findLastIndex(({ type }) => type !== 'thinking') + 1)
  if (parts.length === 0) return
  const last = mergeAnswers ? turns.at(-1) : undefined
  if (last?.role === 'assistant') turns[turns.length - 1] = { role: 'assistant', parts: [...last.parts, ...parts] }
  else turns.push({ role: 'assistant', parts })
}

function toAnswerPart(part: Part, { ref, style, names }: ConversationContext, isInThisTurn: boolean): AnswerPart[] {
  const own = 'providerData' in part ? fromProviderData(part.providerData, ref) : undefined
  const isSigned = own !== undefined && Object.keys(own).length > 0
  const data = isSigned ? { own } : {}
  switch (part.type) {
    case 'text':
      if (part.text.trim() === '' && !(style.emptySignedText && isSigned)) return []
      return [{ type: 'text', text: wellFormed(part.text), ...data }]
    case 'thinking': {
      if (part.model !== undefined && part.model !== ref) return []
      const goesBack = style.thinking === 'signed' ? isSigned : style.thinking === 'turn' && isInThisTurn && part.text !== ''
      return goesBack ? [{ type: 'thinking', text: wellFormed(part.text), ...data }] : []
    }
    case 'tool-call': {
      // Arguments that are not a JSON object are wrapped, so that the model sees its mistake.
      const given = wellFormedJson(part.input)
      const input = asObject(given) ?? { invalid_arguments: given }
      return [{ type: 'tool-call', id: acceptedId(part.id, style.callIds), name: names.out(part.name), input, ...data }]
    }
    case 'image':
    case 'file':
      return style.filesInAnswers && !isUrl(part.data) ? [part] : []
    case 'opaque':
      return isSigned ? [{ type: 'opaque', own }] : []
    default:
      return []
  }
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
  // APIs require the results of one message's calls together.
  if (last?.role === 'tool') turns[turns.length - 1] = { role: 'tool', results: [...last.results, ...results] }
  else turns.push({ role: 'tool', results })
}

/** Moves attachments of tool results to a user message after them, for APIs whose tool results are text only. */
function withAttachmentsApart(turns: readonly Turn[], { alternates }: Style): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== 'tool' || turn.results.every(({ attachments }) => attachments.length === 0)) return [turn]
    const parts = turn.results.flatMap(({ id, name, attachments }): (Text | Attachment)[] =>
      attachments.length === 0 ? [] : [{ type: 'text', text: `Returned by the tool ${name} (call ${id}):` }, ...attachments],
    )
    const results = turn.results.map((result) => ({ ...result, attachments: [] }))
    return [
      { role: 'tool', results },
      ...(alternates ? [said('assistant', '(What the tools have attached follows.)')] : []),
      { role: 'user', parts },
    ]
  })
}

export function isUrl(data: string): boolean {
  return /^https?:\/\//i.test(data)
}

/** Returns base64 data as a data URL, and a URL unchanged. */
export function dataUrl({ mediaType, data }: Attachment): string {
  return isUrl(data) ? data : `data:${mediaType};base64,${data}`
}
