/**
 * Encodes requests for OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses). Answers are not stored at the provider
 * (`store: false`), so that a conversation can continue on another one; the messages carry all state, including encrypted reasoning.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { dataUrl, isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Result, Turn } from '../conversation/conversation.ts'
import { cannotSend, choiceOf, effortOf, formatOf, nonEmpty, ranByProvider, samplingOf, snakeCase } from '../prepare.ts'
import { asArray, asText, objectsIn } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

/** Tools that OpenAI runs. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { type: 'web_search' },
  code_execution: { type: 'code_interpreter', container: { type: 'auto' } },
  image_generation: { type: 'image_generation' },
}

export function encode(input: EncodeInput): Encoded {
  const { request, model, facts, warn } = input
  const {
    reasoningEffort: _,
    reasoningSummary,
    textVerbosity: verbosity,
    strictJsonSchema: __,
    tools: ran,
    ...options
  } = input.options
  for (const name of ['topK', 'seed', 'stopSequences'] as const)
    if (asArray(request[name]).length > 0 || typeof request[name] === 'number') warn(`The Responses API does not take ${name}.`)
  const effort = facts.thinking === false ? undefined : effortOf(input)
  const format = formatOf(input, (schema) => schema)
  const summary = reasoningSummary ?? (request.thinking === undefined || effort === 'none' ? undefined : 'detailed')
  const tools = [
    ...input.tools.map(({ schema: parameters, ...tool }) => ({ type: 'function', ...tool, parameters, strict: false })),
    ...ranByProvider(ran, PROVIDER_TOOLS),
  ]
  const isReasoning = facts.thinking === true
  return {
    path: '/responses',
    body: defined<JsonObject>({
      model,
      input: input.turns.flatMap((turn) => toItems(turn, isReasoning, input)),
      ...samplingOf(input, effort, false),
      max_output_tokens: request.maxOutputTokens,
      text: format === undefined && verbosity === undefined ? undefined : defined({ format, verbosity }),
      store: false,
      include: isReasoning ? ['reasoning.encrypted_content'] : undefined,
      reasoning: effort === undefined && summary === undefined ? undefined : defined({ effort, summary }),
      tools: nonEmpty(tools),
      tool_choice: tools.length === 0 ? undefined : choiceOf(input, (name) => ({ type: 'function', name })),
      ...snakeCase(options),
      stream: request.stream ? true : undefined,
    }),
  }
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
  /** Reasoning items by id; several thinking parts may belong to one item, as the parts of its summary. */
  const reasoning = new Map<
    string,
    { type: 'reasoning'; id: string; summary: JsonObject[]; encrypted_content?: Json | undefined }
  >()
  const items = parts.flatMap((part): JsonObject[] => {
    const own = ('own' in part ? part.own?.['openai'] : undefined) ?? {}
    switch (part.type) {
      case 'text':
        return [{ role: 'assistant', content: part.text, ...defined({ phase: own['phase'] }) }]
      case 'thinking': {
        const id = asText(own['itemId'])
        const known = reasoning.get(id)
        const item = known ?? { type: 'reasoning', id, summary: [] }
        reasoning.set(id, item)
        if (part.text !== '') item.summary.push({ type: 'summary_text', text: part.text })
        item.encrypted_content = own['reasoningEncryptedContent'] ?? item.encrypted_content
        return known === undefined ? [item] : []
      }
      case 'tool-call': {
        const call = { type: 'function_call', call_id: part.id, name: part.name, arguments: JSON.stringify(part.input) }
        return [{ ...call, ...defined({ namespace: own['namespace'] }) }]
      }
      case 'opaque':
        return objectsIn([part.own['block']])
      default:
        return []
    }
  })
  // Without encrypted content, OpenAI would look the item up among stored items, and none are stored.
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
