/** Converts a request to the call options of an AI SDK model. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { ModelRequest, ThinkingEffort } from '../../core/model.ts'
import { isUrl, toConversation } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, ConversationContext, Result, Turn } from '../conversation/conversation.ts'
import { STYLES } from '../conversation/style.ts'
import { cacheMarks, toolsOf } from '../prepare.ts'
import { asObject, objectsIn } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const satisfies Record<ThinkingEffort, string>

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

export function toCallOptions(
  { messages, tools: offered, toolChoice, stopSequences, thinking, ...request }: ModelRequest,
  context: ConversationContext,
  version: string,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const { temperature, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, seed, responseFormat } = request
  const turns = toConversation(messages, context)
  const { cacheControl, ...anthropic } = asObject(request.providerOptions?.['anthropic']) ?? {}
  const isMarked = context.style === STYLES.messages && cacheControl === undefined
  const marks = isMarked ? cacheMarks(turns) : new Set<number>()
  const tools = toolsOf(offered, context.names).map(({ schema: inputSchema, ...tool }, index, { length }) => ({
    type: 'function' as const,
    ...tool,
    inputSchema,
    ...(marks.has(-1) && index === length - 1 ? { providerOptions: CACHED } : {}),
  }))
  const toolName = typeof toolChoice === 'object' ? context.names.out(toolChoice.tool) : ''
  const prompt = turns.map((turn, index) => ({
    ...toMessage(turn, version),
    ...(marks.has(index) ? { providerOptions: CACHED } : {}),
  }))
  const options = defined<Omit<LanguageModelV4CallOptions, 'prompt'>>({
    tools: tools.length === 0 ? undefined : tools,
    temperature,
    maxOutputTokens,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    seed,
    responseFormat,
    stopSequences: stopSequences === undefined || stopSequences.length === 0 ? undefined : [...stopSequences],
    toolChoice:
      tools.length === 0 || toolChoice === undefined
        ? undefined
        : typeof toolChoice === 'string'
          ? { type: toolChoice }
          : { type: 'tool', toolName },
    // Versions 2 and 3 have no setting for reasoning.
    reasoning: thinking === undefined || isOlder(version) ? undefined : EFFORTS[thinking],
    providerOptions: (cacheControl === false ? { ...request.providerOptions, anthropic } : request.providerOptions) as
      | LanguageModelV4CallOptions['providerOptions']
      | undefined,
    abortSignal: signal,
  })
  return { prompt, ...options }
}

function toMessage(turn: Turn, version: string): LanguageModelV4Message {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: turn.text }
    case 'user': {
      const parts = turn.parts.map((part) => (part.type === 'text' ? toText(part.text) : toFile(part, version)))
      return { role: 'user', content: parts as LanguageModelV4FilePart[] }
    }
    case 'assistant':
      return { role: 'assistant', content: turn.parts.flatMap((part) => toPart(part, version) as never) }
    default:
      return { role: 'tool', content: turn.results.map((result) => toResult(result, version)) }
  }
}

function toText(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

function toPart(part: AnswerPart, version: string): object[] {
  const options = 'own' in part && part.own !== undefined ? { providerOptions: part.own } : {}
  switch (part.type) {
    case 'text':
      return [{ ...toText(part.text), ...options }]
    case 'thinking':
      return [{ type: 'reasoning', text: part.text, ...options }]
    case 'tool-call':
      return [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input, ...options }]
    case 'opaque':
      return objectsIn([part.own['part']])
    default:
      return [toFile(part, version)]
  }
}

function toResult({ id, name, text, isError, attachments }: Result, version: string): LanguageModelV4ToolResultPart {
  const files = attachments.map((part) => toResultFile(part, version))
  const output =
    files.length > 0
      ? { type: 'content', value: [toText(isError ? `Error: ${text}` : text), ...files] }
      : { type: isError ? 'error-text' : 'text', value: text }
  return { type: 'tool-result', toolCallId: id, toolName: name, output: output as LanguageModelV4ToolResultPart['output'] }
}

function isOlder(version: string): boolean {
  return version === 'v2' || version === 'v3'
}

/** Converts a file of a message. Before version 4, `data` was the data itself or its URL. */
function toFile(part: Attachment, version: string): object {
  const { mediaType, data: given } = part
  const url = isUrl(given) ? new URL(given) : undefined
  const data = url === undefined ? { type: 'data', data: given } : { type: 'url', url }
  const name = part.type === 'file' ? defined({ filename: part.filename }) : {}
  return { type: 'file', mediaType, data: isOlder(version) ? (url ?? given) : data, ...name }
}

/** Converts a file of a tool result. Version 2 takes no URLs there, so they are sent as text; version 3 has types of its own for data and URLs. */
function toResultFile(part: Attachment, version: string): object {
  if (!isOlder(version)) return toFile(part, version)
  const { mediaType, data } = part
  if (isUrl(data)) return version === 'v3' ? { type: 'file-url', url: new URL(data).href } : toText(new URL(data).href)
  return { type: version === 'v3' ? 'file-data' : 'media', data, mediaType }
}
