/** Encodes requests for Chat Completions, of OpenAI and compatible servers. https://platform.openai.com/docs/api-reference/chat */

import type { JsonObject } from '../../core/json.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { dataUrl, isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Turn } from '../conversation/conversation.ts'
import { cannotSend, choiceOf, effortOf, formatOf, nonEmpty, samplingOf, snakeCase } from '../prepare.ts'
import { asString } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

export function encode(input: EncodeInput): Encoded {
  const { request, model, facts, tools } = input
  const { stream } = request
  const effort = effortOf(input)
  // Compatible servers copy OpenAI's API, but not the settings that its models refuse.
  const isOpenAi = input.style === 'chat'
  const isReasoning = isOpenAi && facts.thinking === true
  const { strictJsonSchema: _, ...options } = input.options
  if (request.topK !== undefined) input.warn('Chat Completions does not take topK.')
  return {
    path: '/chat/completions',
    body: defined<JsonObject>({
      model,
      ...samplingOf(isOpenAi ? input : { ...input, facts: { ...facts, thinking: false } }, effort, true),
      [isReasoning ? 'max_completion_tokens' : 'max_tokens']: request.maxOutputTokens,
      stop: nonEmpty(request.stopSequences),
      seed: request.seed,
      response_format: formatOf(input, (schema) => ({ json_schema: schema })),
      reasoning_effort: effort,
      messages: input.turns.flatMap((turn) => toMessages(turn, input, isOpenAi, isReasoning)),
      tools: nonEmpty(tools.map(({ schema: parameters, ...tool }) => ({ type: 'function', function: { ...tool, parameters } }))),
      tool_choice: tools.length === 0 ? undefined : choiceOf(input, (name) => ({ type: 'function', function: { name } })),
      ...snakeCase(options),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
  }
}

function toMessages(turn: Turn, { ref }: EncodeInput, isOpenAi: boolean, isReasoning: boolean): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return [{ role: isReasoning ? 'developer' : 'system', content: turn.text }]
    case 'user': {
      const [only, ...others] = turn.parts
      // Some servers accept a list only if it holds more than text.
      if (only?.type === 'text' && others.length === 0) return [{ role: 'user', content: only.text }]
      return [{ role: 'user', content: turn.parts.map((part) => (part.type === 'text' ? toText(part.text) : toFile(part, ref))) }]
    }
    case 'assistant': {
      const joined = (type: 'text' | 'thinking'): string =>
        turn.parts.map((part) => (part.type === type ? part.text : '')).join('')
      const text = joined('text')
      const calls = turn.parts.flatMap((part) => (part.type === 'tool-call' ? [toCall(part, isOpenAi)] : []))
      return [
        defined<JsonObject>({
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          reasoning_content: joined('thinking') || undefined,
          tool_calls: nonEmpty(calls),
        }),
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

function toCall({ id, name, input, own }: Extract<AnswerPart, { type: 'tool-call' }>, isOpenAi: boolean): JsonObject {
  // Gemini signs its calls over this API too, and wants the signatures back.
  const signature = isOpenAi ? undefined : asString(own?.['google']?.['thoughtSignature'])
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
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
