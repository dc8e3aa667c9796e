/** Our messages as the AI SDK's prompt. */

import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { CriaError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { RequestMessage } from '../../core/model.ts'
import type { FilePart, ImagePart, Part, ToolResultPart } from '../../core/part.ts'
import { asObject } from '../wire/dialect.ts'
import { acceptedId } from './call-ids.ts'
import { fromProviderData } from './own-data.ts'
import type { Style } from './style.ts'
import type { ToolNames } from './tool-names.ts'
import { wellFormed, wellFormedJson } from './well-formed.ts'

export interface PromptContext {
  /** `provider/model` that is asked: what belongs to another does not go along. */
  readonly ref: string
  readonly style: Style
  readonly names: ToolNames
}

type Options = { readonly providerOptions?: Record<string, never> }
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content']
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

/** Empty texts and messages are left out: no provider takes them. */
export function toPrompt(messages: readonly RequestMessage[], context: PromptContext): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  messages.forEach((message, index) => {
    switch (message.role) {
      case 'system':
      case 'developer':
        addInstructions(prompt, message, context)
        break
      case 'user':
        addUser(prompt, message, context)
        break
      case 'assistant':
        addAssistant(prompt, message, context, index > lastUser)
        break
      case 'tool':
        addResults(prompt, message, context)
        break
      case 'retrieved':
        throw new CriaError(
          'internal',
          'A retrieved message has reached a provider: it has to be fenced and given the user role before.',
        )
    }
  })
  if (context.style.begins === 'user') begin(prompt)
  return context.style.attachments === 'user-message' ? withAttachmentsApart(prompt, context.style) : prompt
}

/** A greeting of ours, or a conversation whose beginning is gone. */
function begin(prompt: LanguageModelV4Prompt): void {
  const first = prompt.findIndex(({ role }) => role !== 'system')
  if (prompt[first]?.role !== 'assistant') return
  prompt.splice(first, 0, { role: 'user', content: [{ type: 'text', text: '(The assistant speaks first.)' }] })
}

function addInstructions(prompt: LanguageModelV4Prompt, message: RequestMessage, { style }: PromptContext): void {
  if (message.content.trim() === '') return
  const instructions: LanguageModelV4Message = { role: 'system', content: wellFormed(message.content) }
  const firstOther = prompt.findIndex(({ role }) => role !== 'system')
  if (style.instructions === 'top' && firstOther >= 0) prompt.splice(firstOther, 0, instructions)
  else prompt.push(instructions)
}

function addUser(prompt: LanguageModelV4Prompt, message: RequestMessage, { style }: PromptContext): void {
  const content: UserContent = []
  for (const part of message.parts) {
    if (part.type === 'text' && part.text.trim() !== '') content.push({ type: 'text', text: wellFormed(part.text) })
    else if (part.type === 'image' || part.type === 'file') content.push(toFile(part))
  }
  if (content.length === 0) return
  const last = prompt.at(-1)
  if (style.mergeUsers && last?.role === 'user') {
    prompt[prompt.length - 1] = { role: 'user', content: joined([...last.content, ...content]) }
    return
  }
  if (style.answersBeforeUser && last?.role === 'tool') {
    // The turn was interrupted there.
    prompt.push({ role: 'assistant', content: [{ type: 'text', text: '(There was no answer.)' }] })
  }
  prompt.push({ role: 'user', content })
}

/** What is text alone becomes one text: some servers take nothing else where there is no file. */
function joined(content: UserContent): UserContent {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length < content.length ? content : [{ type: 'text', text: texts.join('\n\n') }]
}

function addAssistant(prompt: LanguageModelV4Prompt, message: RequestMessage, context: PromptContext, inThisTurn: boolean): void {
  const { mergeAnswers, endsInThinking } = context.style
  const said = message.parts.flatMap((part) => toAssistantPart(part, context, inThisTurn))
  const content = endsInThinking ? said : said.slice(0, said.findLastIndex(({ type }) => type !== 'reasoning') + 1)
  if (content.length === 0) return
  const last = prompt.at(-1)
  if (mergeAnswers && last?.role === 'assistant') last.content.push(...content)
  else prompt.push({ role: 'assistant', content })
}

function toAssistantPart(part: Part, { ref, style, names }: PromptContext, inThisTurn: boolean): AssistantContent {
  switch (part.type) {
    case 'text': {
      const options = optionsOf(part.providerData, ref)
      if (part.text.trim() === '' && !(style.emptySignedText && options.providerOptions !== undefined)) return []
      return [{ type: 'text', text: wellFormed(part.text), ...options }]
    }
    case 'thinking': {
      if (part.model !== undefined && part.model !== ref) return []
      const options = optionsOf(part.providerData, ref)
      const goesBack =
        style.thinking === 'signed'
          ? options.providerOptions !== undefined
          : style.thinking === 'turn' && inThisTurn && part.text !== ''
      return goesBack ? [{ type: 'reasoning', text: wellFormed(part.text), ...options }] : []
    }
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: acceptedId(part.id, style.callIds),
          toolName: names.out(part.name),
          input: toInput(part.input),
          ...optionsOf(part.providerData, ref),
        },
      ]
    case 'image':
    case 'file':
      return style.filesInAnswers && !isUrl(part.data) ? [toFile(part)] : []
    case 'opaque': {
      const own = fromProviderData(part.providerData, ref)?.['part']
      return own === undefined ? [] : [own as unknown as AssistantContent[number]]
    }
    default:
      return []
  }
}

function optionsOf(data: Parameters<typeof fromProviderData>[0], ref: string): Options {
  const options = fromProviderData(data, ref)
  return options === undefined || Object.keys(options).length === 0 ? {} : ({ providerOptions: options } as unknown as Options)
}

/** Providers want an object; a model that wrote something else is shown what it wrote. */
function toInput(input: Json): Json {
  const object = asObject(input)
  return object === undefined ? { invalid_arguments: wellFormedJson(input) } : wellFormedJson(object)
}

function addResults(prompt: LanguageModelV4Prompt, message: RequestMessage, context: PromptContext): void {
  const results = message.parts.filter((part) => part.type === 'tool-result').map((part) => toResult(part, context))
  if (results.length === 0) return
  const last = prompt.at(-1)
  // The results of one message's calls belong together.
  if (last?.role === 'tool') last.content.push(...results)
  else prompt.push({ role: 'tool', content: results })
}

const NO_OUTPUT = '(no output)'

function toResult(part: ToolResultPart, { names, style }: PromptContext): LanguageModelV4ToolResultPart {
  const text = part.content.trim() === '' ? NO_OUTPUT : wellFormed(part.content)
  const attachments = part.attachments ?? []
  return {
    type: 'tool-result',
    toolCallId: acceptedId(part.id, style.callIds),
    toolName: names.out(part.name),
    output:
      attachments.length > 0
        ? { type: 'content', value: [{ type: 'text', text: part.isError ? `Error: ${text}` : text }, ...attachments.map(toFile)] }
        : { type: part.isError ? 'error-text' : 'text', value: text },
  }
}

function toFile(part: ImagePart | FilePart): LanguageModelV4FilePart {
  return {
    type: 'file',
    mediaType: part.mediaType,
    data: isUrl(part.data) ? { type: 'url', url: new URL(part.data) } : { type: 'data', data: part.data },
    ...(part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {}),
  }
}

function isUrl(data: string): boolean {
  return /^https?:\/\//i.test(data)
}

const FILES_FOLLOW: LanguageModelV4Message = {
  role: 'assistant',
  content: [{ type: 'text', text: '(What the tools have attached follows.)' }],
}

/** Where a tool result can only be text, what came beside it follows as a message of the user. */
function withAttachmentsApart(prompt: LanguageModelV4Prompt, { answersBeforeUser }: Style): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role !== 'tool') return [message]
    const files: UserContent = []
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result' || part.output.type !== 'content') return part
      const text = part.output.value.map((value) => (value.type === 'text' ? value.text : '')).join('')
      const attached = part.output.value.filter((value) => value.type === 'file')
      files.push({ type: 'text', text: `Returned by the tool ${part.toolName} (call ${part.toolCallId}):` }, ...attached)
      return { ...part, output: { type: 'text' as const, value: text } }
    })
    return files.length === 0
      ? [message]
      : [{ ...message, content }, ...(answersBeforeUser ? [FILES_FOLLOW] : []), { role: 'user', content: files }]
  })
}
