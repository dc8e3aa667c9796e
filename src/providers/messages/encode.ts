/** Writes a request to Anthropic's Messages API. https://docs.anthropic.com/en/api/messages */

import type { Json, JsonObject } from '../../core/json.ts'
import type { Encoded, EncodeInput } from '../api.ts'
import { isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Turn } from '../conversation/conversation.ts'
import { NO_FORCED_CALLS, NO_SAMPLING } from '../facts-table.ts'
import { cannotSend, nonEmpty, ranByProvider, snakeCase } from '../prepare.ts'
import { asArray, asObject, asString } from '../wire/json.ts'
import { defined } from '../../util/check.ts'
import { cacheMarks, MARK } from './cache-marks.ts'
import { thinkingOf } from './thinking.ts'

/** Anthropic has no default. */
const MAX_TOKENS = 4096

/** Tools that Anthropic runs. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { type: 'web_search_20250305', name: 'web_search' },
  web_fetch: { type: 'web_fetch_20250910', name: 'web_fetch' },
  code_execution: { type: 'code_execution_20250825', name: 'code_execution' },
}
/** The betas that they need. */
const BETAS: Readonly<Record<string, string>> = {
  web_fetch: 'web-fetch-2025-09-10',
  code_execution: 'code-execution-2025-08-25',
}

export function encode(input: EncodeInput): Encoded {
  const { request, model, facts, turns } = input
  const {
    cacheControl,
    cache_control = cacheControl,
    tools: ran,
    anthropicBeta,
    disableParallelToolUse,
    effort: ownEffort,
    ...rest
  } = input.options
  const { thinking: ownThinking, ...options } = snakeDeep(rest) as JsonObject
  const limit = Math.min(request.maxOutputTokens ?? Infinity, facts.maxOutputTokens ?? request.maxOutputTokens ?? MAX_TOKENS)
  const { thinking, effort = asString(ownEffort) } = thinkingOf(input, turns, limit, asObject(ownThinking))
  const marks = cache_control === undefined && !turns.some(isMarked) ? cacheMarks(turns) : new Set<number>()
  const instructions = turns.flatMap((turn, at) =>
    turn.role === 'system' ? [{ ...toText(turn.text), ...(marks.has(at) ? MARK : {}) }] : [],
  )
  const tools = [
    ...offered(input).map(({ schema: input_schema, ...tool }, index, all) => ({
      ...tool,
      input_schema,
      // Arguments are sent as they are written, and not held back until they are whole.
      ...(request.stream ? { eager_input_streaming: true } : {}),
      ...(marks.has(-1) && index === all.length - 1 ? MARK : {}),
    })),
    ...ranByProvider(ran, PROVIDER_TOOLS),
  ]
  const schema = facts.structuredOutput === true ? request.responseFormat?.schema : undefined
  const format = schema === undefined ? undefined : { type: 'json_schema', schema: outputSchema(schema) }
  const betas = [...asArray(anthropicBeta), ...new Set(asArray(ran).flatMap((tool) => BETAS[String(tool)] ?? []))].join(',')
  return {
    path: '/messages',
    ...(betas === '' ? {} : { headers: { 'anthropic-beta': betas } }),
    body: defined<JsonObject>({
      model,
      max_tokens: limit,
      ...samplingOf(input, thinking !== undefined && thinking['type'] !== 'disabled'),
      stop_sequences: nonEmpty(request.stopSequences),
      thinking,
      output_config: effort === undefined && format === undefined ? undefined : defined({ effort, format }),
      system: nonEmpty(instructions),
      messages: toMessages(turns, marks, input.ref),
      tools: nonEmpty(tools),
      tool_choice: tools.length === 0 ? undefined : toChoice(input, disableParallelToolUse === true),
      cache_control: asObject(cache_control),
      ...options,
      stream: request.stream ? true : undefined,
    }),
  }
}

function samplingOf({ model, request, warn }: EncodeInput, isThinking: boolean): JsonObject {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = request
  const taken = { temperature, top_k: topK, top_p: temperature === undefined ? topP : undefined }
  const isRefused = isThinking || NO_SAMPLING.test(model)
  const dropped = { seed, presencePenalty, frequencyPenalty, ...(isRefused ? { temperature, topP, topK } : {}) }
  for (const [name, value] of Object.entries(dropped))
    if (value !== undefined) warn(`${model} does not take ${name}${isThinking && name in request ? ' while it thinks' : ''}.`)
  return isRefused ? {} : taken
}

/** Where a call cannot be forced, the model is offered nothing but the tool that it should call. */
function offered({ request: { toolChoice }, model, names, tools }: EncodeInput): EncodeInput['tools'] {
  const isForced = typeof toolChoice === 'object' && NO_FORCED_CALLS.test(model)
  return isForced ? tools.filter(({ name }) => name === names.out(toolChoice.tool)) : tools
}

function toChoice({ request: { toolChoice }, model, names, warn }: EncodeInput, oneCall: boolean): JsonObject | undefined {
  const alone = oneCall ? { disable_parallel_tool_use: true } : {}
  if (toolChoice === undefined) return oneCall ? { type: 'auto', ...alone } : undefined
  if (toolChoice === 'none') return { type: 'none' }
  if (toolChoice !== 'auto' && NO_FORCED_CALLS.test(model)) {
    warn(`${model} cannot be made to call a tool.`)
    return { type: 'auto', ...alone }
  }
  if (typeof toolChoice === 'object') return { type: 'tool', name: names.out(toolChoice.tool), ...alone }
  return { type: toolChoice === 'required' ? 'any' : 'auto', ...alone }
}

/** Messages of one role follow one another as one. */
function toMessages(turns: readonly Turn[], marks: ReadonlySet<number>, ref: string): JsonObject[] {
  const messages: { role: string; content: JsonObject[] }[] = []
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'system') continue
    const blocks = toBlocks(turn, index === turns.length - 1, ref)
    const last = blocks.at(-1)
    if (last !== undefined && marks.has(index)) blocks[blocks.length - 1] = { ...last, ...MARK }
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const before = messages.at(-1)
    if (before?.role === role) before.content.push(...blocks)
    else messages.push({ role, content: blocks })
  }
  return messages
}

function toBlocks(turn: Exclude<Turn, { role: 'system' }>, isLast: boolean, ref: string): JsonObject[] {
  switch (turn.role) {
    case 'user':
      return turn.parts.map((part) => (part.type === 'text' ? toText(part.text) : toFile(part, ref)))
    case 'assistant':
      // An answer that is to be continued cannot end in white space.
      return turn.parts.flatMap((part, at) => toAnswerBlock(part, isLast && at === turn.parts.length - 1))
    default:
      return turn.results.map(({ id, text, isError, attachments }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: attachments.length === 0 ? text : [toText(text), ...attachments.map((part) => toFile(part, ref))],
        ...(isError ? { is_error: true } : {}),
      }))
  }
}

function toAnswerBlock(part: AnswerPart, isEnd: boolean): JsonObject[] {
  const own = 'own' in part ? part.own?.['anthropic'] : undefined
  switch (part.type) {
    case 'text': {
      const mark = asObject(own?.['cacheControl'])
      return [{ ...toText(isEnd ? part.text.trimEnd() : part.text), ...(mark === undefined ? {} : { cache_control: mark }) }]
    }
    case 'thinking': {
      const data = own?.['redactedData']
      if (data !== undefined) return [{ type: 'redacted_thinking', data }]
      const signature = own?.['signature']
      return signature === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature }]
    }
    case 'tool-call': {
      const caller = own?.['caller']
      return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input, ...(caller === undefined ? {} : { caller }) }]
    }
    case 'opaque': {
      const block = asObject(part.own['block'])
      return block === undefined ? [] : [block]
    }
    default:
      return []
  }
}

function isMarked(turn: Turn): boolean {
  return (
    turn.role === 'assistant' &&
    turn.parts.some((part) => 'own' in part && part.own?.['anthropic']?.['cacheControl'] !== undefined)
  )
}

function toText(text: string): JsonObject {
  return { type: 'text', text }
}

function toFile(part: Attachment, ref: string): JsonObject {
  const { mediaType, data } = part
  const place: JsonObject = isUrl(data) ? { type: 'url', url: data } : { type: 'base64', media_type: mediaType, data }
  if (part.type === 'image' || mediaType.startsWith('image/')) return { type: 'image', source: place }
  const title = part.filename === undefined ? {} : { title: part.filename }
  if (mediaType === 'application/pdf') return { type: 'document', source: place, ...title }
  if (!mediaType.startsWith('text/')) throw cannotSend(part, ref)
  const source = isUrl(data) ? place : { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString() }
  return { type: 'document', source, ...title }
}

function snakeDeep(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(snakeDeep)
  const object = asObject(value)
  if (object === undefined) return value
  return snakeCase(Object.fromEntries(Object.entries(object).map(([name, member]) => [name, snakeDeep(member as Json)])))
}

/** Refused; they are told to the model in words. What it writes is checked against the whole schema anyway. */
const IN_WORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
])
const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions'])
const LISTS_OF_SCHEMAS = new Set(['anyOf', 'oneOf', 'allOf'])

function outputSchema(schema: JsonObject): JsonObject {
  const kept: Record<string, Json | undefined> = {}
  const words: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (IN_WORDS.has(name)) words.push(`${name}: ${JSON.stringify(value)}`)
    else if (SCHEMAS_BY_NAME.has(name))
      kept[name] = Object.fromEntries(Object.entries(asObject(value) ?? {}).map(([key, each]) => [key, convert(each)]))
    else if (LISTS_OF_SCHEMAS.has(name))
      kept[name === 'oneOf' ? 'anyOf' : name] = asArray(value).map((each) => convert(each as Json))
    else kept[name] = name === 'items' ? convert(value) : value
  }
  if (schema['type'] === 'object' || schema['properties'] !== undefined) kept['additionalProperties'] = false
  if (words.length > 0) kept['description'] = [asString(schema['description']), words.join(', ')].filter(Boolean).join(' ')
  return kept
}

function convert(value: Json | undefined): Json {
  const schema = asObject(value)
  return schema === undefined ? (value ?? {}) : outputSchema(schema)
}
