/** A request as the AI SDK's call options, for models that the user brought. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json.ts'
import type { ModelRequest, ThinkingEffort } from '../../core/model.ts'
import { isUrl, toConversation } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, ConversationContext, Result, Turn } from '../conversation/conversation.ts'
import { STYLES } from '../conversation/style.ts'
import { cacheMarks } from '../messages/cache-marks.ts'
import { toolsOf } from '../prepare.ts'
import { asObject } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const satisfies Record<ThinkingEffort, string>

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

export function toCallOptions(
  { messages, tools: offered, toolChoice, stopSequences, thinking, ...request }: ModelRequest,
  context: ConversationContext,
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
  const prompt = turns.map((turn, index) => ({ ...toMessage(turn), ...(marks.has(index) ? { providerOptions: CACHED } : {}) }))
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
    reasoning: thinking === undefined ? undefined : EFFORTS[thinking],
    providerOptions: (cacheControl === false ? { ...request.providerOptions, anthropic } : request.providerOptions) as
      | LanguageModelV4CallOptions['providerOptions']
      | undefined,
    abortSignal: signal,
  })
  return { prompt, ...options }
}

function toMessage(turn: Turn): LanguageModelV4Message {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: turn.text }
    case 'user':
      return {
        role: 'user',
        content: turn.parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : toFile(part))),
      }
    case 'assistant':
      return { role: 'assistant', content: turn.parts.flatMap((part) => toPart(part) as never) }
    default:
      return { role: 'tool', content: turn.results.map(toResult) }
  }
}

function toPart(part: AnswerPart): object[] {
  const options = 'own' in part && part.own !== undefined ? { providerOptions: part.own } : {}
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...options }]
    case 'thinking':
      return [{ type: 'reasoning', text: part.text, ...options }]
    case 'tool-call':
      return [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input, ...options }]
    case 'opaque': {
      const own = asObject(part.own['part'])
      return own === undefined ? [] : [own]
    }
    default:
      return [toFile(part)]
  }
}

function toResult({ id, name, text, isError, attachments }: Result): LanguageModelV4ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output:
      attachments.length > 0
        ? { type: 'content', value: [{ type: 'text', text: isError ? `Error: ${text}` : text }, ...attachments.map(toFile)] }
        : { type: isError ? 'error-text' : 'text', value: text },
  }
}

function toFile(part: Attachment): LanguageModelV4FilePart {
  const { mediaType, data } = part
  return {
    type: 'file',
    mediaType,
    data: isUrl(data) ? { type: 'url', url: new URL(data) } : { type: 'data', data },
    ...(part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {}),
  }
}

/** For models of versions 2 and 3: files were `data` itself before version 4, and there was no setting for reasoning. */
export function toOlder(
  { reasoning: _, prompt, ...options }: LanguageModelV4CallOptions,
  version: string,
): LanguageModelV4CallOptions {
  const older = prompt.map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part) => olderPart(part as unknown as JsonObject, version)) }
      : message,
  )
  return { ...options, prompt: older as LanguageModelV4CallOptions['prompt'] }
}

type FileData = { readonly type: 'data'; readonly data: string } | { readonly type: 'url'; readonly url: URL }

function olderPart(part: JsonObject, version: string): unknown {
  if (part['type'] === 'file') {
    const data = part['data'] as unknown as FileData
    return { ...part, data: data.type === 'url' ? data.url : data.data }
  }
  const output = part['output'] as unknown as { type: string; value: readonly JsonObject[] } | undefined
  if (part['type'] !== 'tool-result' || output?.type !== 'content') return part
  const value = output.value.map((each) => (each['type'] === 'file' ? olderResult(each, version) : each))
  return { ...part, output: { type: 'content', value } }
}

function olderResult(value: JsonObject, version: string): unknown {
  const data = value['data'] as unknown as FileData
  if (data.type === 'url')
    return version === 'v3' ? { type: 'file-url', url: data.url.href } : { type: 'text', text: data.url.href }
  return { type: version === 'v3' ? 'file-data' : 'media', data: data.data, mediaType: value['mediaType'] }
}
