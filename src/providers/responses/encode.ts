/**
 * Writes a request to the Responses API. Answers are not kept at the provider (`store: false`), so a conversation can be taken to another; what it needs
 * to go on, encrypted reasoning among it, travels with the messages.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ToolChoice } from '../../core/model.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { conversationOf, snakeCase, toolOf } from '../api.ts'
import { dataUrl, isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Result, Turn } from '../conversation/conversation.ts'
import { cannotSend, effortOf, isReasoningModel, samplingOf, schemaOf } from '../openai-settings.ts'
import { asArray, asObject, asString, defined } from '../wire/json.ts'

/** Tools that OpenAI runs, by the name under which every API offers them. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { type: 'web_search' },
  code_execution: { type: 'code_interpreter', container: { type: 'auto' } },
  image_generation: { type: 'image_generation' },
}

export function encodeResponses(input: EncodeInput): Encoded {
  const { request, model, facts, names, warn } = input
  const { maxOutputTokens, stream, toolChoice, responseFormat, thinking } = request
  const { reasoningEffort: _, reasoningSummary, textVerbosity, strictJsonSchema: __, tools: ran, ...options } = input.options
  for (const name of ['topK', 'seed', 'stopSequences'] as const)
    if (asArray(request[name]).length > 0 || typeof request[name] === 'number') warn(`The Responses API does not take ${name}.`)
  const effort = facts.thinking === false ? undefined : effortOf(input)
  const schema = schemaOf(request, input.options)
  const format =
    responseFormat === undefined ? undefined : schema === undefined ? { type: 'json_object' } : { type: 'json_schema', ...schema }
  const summary = reasoningSummary ?? (thinking === undefined || effort === 'none' ? undefined : 'detailed')
  const tools = [
    ...(request.tools ?? [])
      .map((tool) => toolOf(tool, names))
      .map(({ schema: parameters, ...tool }) => ({ type: 'function', ...tool, parameters, strict: false })),
    ...asArray(ran).map((tool) => (PROVIDER_TOOLS[String(tool)] ?? tool) as Json),
  ]
  const isReasoning = isReasoningModel(facts)
  return {
    path: '/responses',
    body: defined<JsonObject>({
      model,
      input: conversationOf(input).flatMap((turn) => toItems(turn, isReasoning, input)),
      ...withoutPenalties(samplingOf(input, effort)),
      max_output_tokens: maxOutputTokens,
      text: format === undefined && textVerbosity === undefined ? undefined : defined({ format, verbosity: textVerbosity }),
      store: false,
      include: isReasoning ? ['reasoning.encrypted_content'] : undefined,
      reasoning: effort === undefined && summary === undefined ? undefined : defined({ effort, summary }),
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: tools.length === 0 || toolChoice === undefined ? undefined : toChoice(toolChoice, input),
      ...snakeCase(options),
      stream: stream ? true : undefined,
    }),
  }
}

function withoutPenalties({ temperature, top_p }: JsonObject): JsonObject {
  return { temperature, top_p }
}

function toChoice(choice: ToolChoice, { names }: EncodeInput): Json {
  return typeof choice === 'string' ? choice : { type: 'function', name: names.out(choice.tool) }
}

function toItems(turn: Turn, isReasoning: boolean, { ref }: EncodeInput): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return [{ role: isReasoning ? 'developer' : 'system', content: turn.text }]
    case 'user':
      return [{ role: 'user', content: turn.parts.map((part) => (part.type === 'text' ? toText(part.text) : toFile(part, ref))) }]
    case 'assistant':
      return toAnswerItems(turn.parts)
    default:
      return turn.results.map((result) => ({ type: 'function_call_output', call_id: result.id, output: toOutput(result, ref) }))
  }
}

function toAnswerItems(parts: readonly AnswerPart[]): JsonObject[] {
  const items: JsonObject[] = []
  /** Several parts may be of one item: it has a summary of several parts. */
  const reasoning = new Map<string, { encrypted_content?: Json | undefined; summary: JsonObject[] }>()
  for (const part of parts) {
    const own = 'own' in part ? part.own?.['openai'] : undefined
    if (part.type === 'text') {
      const { phase } = own ?? {}
      items.push({ role: 'assistant', content: part.text, ...(phase === undefined ? {} : { phase }) })
    } else if (part.type === 'thinking') {
      const id = asString(own?.['itemId']) ?? ''
      const item = reasoning.get(id) ?? { summary: [] }
      if (!reasoning.has(id)) items.push(Object.assign(item, { type: 'reasoning', id }))
      reasoning.set(id, item)
      if (part.text !== '') item.summary.push({ type: 'summary_text', text: part.text })
      item.encrypted_content = own?.['reasoningEncryptedContent'] ?? item.encrypted_content
    } else if (part.type === 'tool-call') {
      const { namespace } = own ?? {}
      const call = { type: 'function_call', call_id: part.id, name: part.name, arguments: JSON.stringify(part.input) }
      items.push({ ...call, ...(namespace === undefined ? {} : { namespace }) })
    } else if (part.type === 'opaque') {
      const block = asObject(part.own['block'])
      if (block !== undefined) items.push(block)
    }
  }
  // Without its encrypted content OpenAI would look for the item among those it has kept, and keeps none.
  return items.filter((item) => item['type'] !== 'reasoning' || item['encrypted_content'] !== undefined)
}

function toText(text: string): JsonObject {
  return { type: 'input_text', text }
}

function toOutput({ text, isError, attachments }: Result, ref: string): Json {
  if (attachments.length === 0) return isError ? JSON.stringify({ error: text }) : text
  return [toText(isError ? `Error: ${text}` : text), ...attachments.map((part) => toFile(part, ref))]
}

function toFile(part: Attachment, ref: string): JsonObject {
  if (part.type === 'image' || part.mediaType.startsWith('image/')) return { type: 'input_image', image_url: dataUrl(part) }
  if (isUrl(part.data)) return { type: 'input_file', file_url: part.data }
  if (part.mediaType.startsWith('text/')) return toText(Buffer.from(part.data, 'base64').toString())
  if (part.mediaType !== 'application/pdf') throw cannotSend(part, ref)
  return { type: 'input_file', filename: part.filename ?? 'document.pdf', file_data: dataUrl(part) }
}
