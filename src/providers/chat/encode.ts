/** Writes a request to Chat Completions. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ToolChoice } from '../../core/model.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { conversationOf, snakeCase, toolOf } from '../api.ts'
import { dataUrl, isUrl } from '../conversation/conversation.ts'
import type { Attachment, Turn } from '../conversation/conversation.ts'
import { STYLES } from '../conversation/style.ts'
import { cannotSend, effortOf, isReasoningModel, samplingOf, schemaOf } from '../openai-settings.ts'
import { asString, defined } from '../wire/json.ts'

export function encodeChat(input: EncodeInput): Encoded {
  const { request, model, facts, names, style, warn } = input
  const { maxOutputTokens, stopSequences = [], seed, stream, toolChoice, responseFormat } = request
  const tools = (request.tools ?? []).map((tool) => toolOf(tool, names))
  const schema = schemaOf(request, input.options)
  const effort = effortOf(input)
  // Others copy OpenAI's API, but not what its models refuse.
  const isOpenAi = style === STYLES.chat
  const isReasoning = isOpenAi && isReasoningModel(facts)
  const { strictJsonSchema: _, ...options } = input.options
  if (request.topK !== undefined) warn('Chat Completions does not take topK.')
  return {
    path: '/chat/completions',
    body: defined<JsonObject>({
      model,
      ...samplingOf(isOpenAi ? input : { ...input, facts: { ...facts, thinking: false } }, effort),
      [isReasoning ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens,
      stop: stopSequences.length === 0 ? undefined : stopSequences,
      seed,
      response_format:
        responseFormat === undefined
          ? undefined
          : schema === undefined
            ? { type: 'json_object' }
            : { type: 'json_schema', json_schema: schema },
      reasoning_effort: effort,
      messages: conversationOf(input).flatMap((turn) => toMessages(turn, input, isOpenAi, isReasoning)),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool) => ({
              type: 'function',
              function: { name: tool.name, description: tool.description, parameters: tool.schema },
            })),
            tool_choice: toolChoice === undefined ? undefined : toChoice(toolChoice, input),
          }),
      ...snakeCase(options),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
  }
}

function toChoice(choice: ToolChoice, { names }: EncodeInput): Json {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: names.out(choice.tool) } }
}

function toMessages(turn: Turn, { ref }: EncodeInput, isOpenAi: boolean, isReasoning: boolean): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return [{ role: isReasoning ? 'developer' : 'system', content: turn.text }]
    case 'user': {
      const [only, ...others] = turn.parts
      // Some servers take a list only where there is more than text.
      if (only?.type === 'text' && others.length === 0) return [{ role: 'user', content: only.text }]
      return [{ role: 'user', content: turn.parts.map((part) => (part.type === 'text' ? toText(part.text) : toFile(part, ref))) }]
    }
    case 'assistant': {
      const text = turn.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const thinking = turn.parts.map((part) => (part.type === 'thinking' ? part.text : '')).join('')
      const calls = turn.parts.flatMap((part): JsonObject[] => {
        if (part.type !== 'tool-call') return []
        // Gemini behind this API signs its calls, and wants the signatures back.
        const signature = isOpenAi ? undefined : asString(part.own?.['google']?.['thoughtSignature'])
        return [
          {
            id: part.id,
            type: 'function',
            function: { name: part.name, arguments: JSON.stringify(part.input) },
            ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
          },
        ]
      })
      return [
        {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...(thinking === '' ? {} : { reasoning_content: thinking }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      ]
    }
    default:
      return turn.results.map(({ id, text, isError }) => ({
        role: 'tool',
        tool_call_id: id,
        content: isError && isOpenAi ? JSON.stringify({ error: text }) : text,
      }))
  }
}

function toText(text: string): JsonObject {
  return { type: 'text', text }
}

const AUDIO: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/mp3': 'mp3', 'audio/mpeg': 'mp3' }

function toFile(part: Attachment, ref: string): JsonObject {
  const { mediaType, data } = part
  const [kind] = mediaType.split('/', 1)
  if (part.type === 'image' || kind === 'image') return { type: 'image_url', image_url: { url: dataUrl(part) } }
  if (kind === 'video') return { type: 'video_url', video_url: { url: dataUrl(part) } }
  const format = AUDIO[mediaType]
  if (format !== undefined && !isUrl(data)) return { type: 'input_audio', input_audio: { data, format } }
  if (kind === 'text') return toText(isUrl(data) ? data : Buffer.from(data, 'base64').toString())
  if (mediaType !== 'application/pdf' || isUrl(data)) throw cannotSend(part, ref)
  return { type: 'file', file: { filename: part.filename ?? 'document.pdf', file_data: dataUrl(part) } }
}
