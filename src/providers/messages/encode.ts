/** Encodes requests for Anthropic's Messages API. https://docs.anthropic.com/en/api/messages */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ThinkingEffort } from '../../core/model.ts'
import type { Encoded, EncodeInput } from '../api.ts'
import { isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Turn } from '../conversation/conversation.ts'
import { ADAPTIVE_THINKING, CANNOT_BE_SWITCHED_OFF, NO_FORCED_CALLS, NO_SAMPLING } from '../facts.ts'
import { cacheMarks, cannotSend, nonEmpty, ranByProvider, snakeCase } from '../prepare.ts'
import { asArray, asObject, asString, objectsIn } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

/** Sent if neither the request nor the facts have a limit: Anthropic requires one. */
const MAX_TOKENS = 4096

/** Tools that Anthropic runs. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { type: 'web_search_20250305', name: 'web_search' },
  web_fetch: { type: 'web_fetch_20250910', name: 'web_fetch' },
  code_execution: { type: 'code_execution_20250825', name: 'code_execution' },
}
/** The beta headers that these tools need. */
const BETAS: Readonly<Record<string, string>> = {
  web_fetch: 'web-fetch-2025-09-10',
  code_execution: 'code-execution-2025-08-25',
}

const MARK: JsonObject = { cache_control: { type: 'ephemeral' } }

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
  const { thinking, effort = asString(ownEffort) } = thinkingOf(input, limit, asObject(ownThinking))
  const marks = cache_control === undefined && !turns.some(isMarked) ? cacheMarks(turns) : new Set<number>()
  const instructions = turns.flatMap((turn, at) =>
    turn.role === 'system' ? [{ ...toText(turn.text), ...(marks.has(at) ? MARK : {}) }] : [],
  )
  const tools = [
    ...offered(input).map(({ schema: input_schema, ...tool }, index, all) => ({
      ...tool,
      input_schema,
      // Streams arguments while the model writes them, instead of buffering them until they are complete.
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

/** Smallest thinking budget that Anthropic accepts, in tokens. */
const LEAST_BUDGET = 1024
/** Least share of the output limit that is left for the answer. */
const ANSWER_SHARE = 0.2
/** Thinking budgets as shares of the model's output limit. */
const BUDGETS: Readonly<Record<Exclude<ThinkingEffort, 'off'>, number>> = { low: 0.1, medium: 0.3, high: 0.6 }

interface Thinking {
  /** The member `thinking` of the request. */
  readonly thinking?: JsonObject
  readonly effort?: string
}

/**
 * Returns the settings for thinking: a budget, an effort, or nothing.
 *
 * @param limit of the output in tokens, thinking included; if it is too small for a budget, thinking is left out.
 * @param given the caller's own `thinking` option, which wins.
 */
function thinkingOf(input: EncodeInput, limit: number, given: JsonObject | undefined): Thinking {
  const { model, request, facts, turns, warn } = input
  const wanted = given === undefined ? ofEffort(model, request.thinking, facts.maxOutputTokens ?? limit) : { thinking: given }
  const budget = wanted.thinking?.['budget_tokens']
  if (wanted.thinking?.['type'] !== 'enabled' || typeof budget !== 'number') return wanted
  const dropped = whyNot(turns, request.toolChoice)
  if (dropped !== undefined) {
    warn(`${model} is asked without thinking: ${dropped}.`)
    return {}
  }
  const fitting = Math.min(budget, Math.floor(limit * (1 - ANSWER_SHARE)))
  return fitting < LEAST_BUDGET ? {} : { thinking: { ...wanted.thinking, budget_tokens: fitting } }
}

function ofEffort(model: string, effort: ThinkingEffort | undefined, most: number): Thinking {
  if (effort === undefined) return {}
  const always = CANNOT_BE_SWITCHED_OFF.find(({ models }) => models.test(model))
  if (effort === 'off') {
    if (always === undefined) return { thinking: { type: 'disabled' } }
    return always.thinking === null ? { effort: 'low' } : { thinking: { type: always.thinking } }
  }
  if (ADAPTIVE_THINKING.test(model)) return { thinking: { type: 'adaptive', display: 'summarized' }, effort }
  return { thinking: { type: 'enabled', budget_tokens: Math.max(LEAST_BUDGET, Math.round(most * BUDGETS[effort])) } }
}

/** Returns why Anthropic would refuse to think: a tool call is forced, or the tool loop began without thinking, for example on another model. */
function whyNot(turns: readonly Turn[], choice: EncodeInput['request']['toolChoice']): string | undefined {
  if (choice === 'required' || asObject(choice) !== undefined) return 'a tool call is forced'
  const last = turns.findLast(({ role }) => role !== 'tool')
  if (last?.role !== 'assistant' || last.parts.every(({ type }) => type !== 'tool-call')) return undefined
  return last.parts[0]?.type === 'thinking' ? undefined : 'the earlier tool calls of this turn were made without it'
}

/** Returns the tools to offer: only the forced one, for models that refuse a forced tool call. */
function offered({ request: { toolChoice }, model, names, tools }: EncodeInput): EncodeInput['tools'] {
  const isForced = typeof toolChoice === 'object' && NO_FORCED_CALLS.test(model)
  return isForced ? tools.filter(({ name }) => name === names.out(toolChoice.tool)) : tools
}

function toChoice({ request: { toolChoice }, model, names, warn }: EncodeInput, oneCall: boolean): JsonObject | undefined {
  const alone = oneCall ? { disable_parallel_tool_use: true } : {}
  if (toolChoice === undefined) return oneCall ? { type: 'auto', ...alone } : undefined
  if (toolChoice === 'none') return { type: 'none' }
  if (toolChoice !== 'auto' && NO_FORCED_CALLS.test(model)) {
    warn(`${model} does not take a forced tool call.`)
    return { type: 'auto', ...alone }
  }
  if (typeof toolChoice === 'object') return { type: 'tool', name: names.out(toolChoice.tool), ...alone }
  return { type: toolChoice === 'required' ? 'any' : 'auto', ...alone }
}

/** Merges consecutive turns of one role into one message. */
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
      // A final assistant message, which the model continues, must not end in white space.
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
  const own = ownOf(part)
  switch (part.type) {
    case 'text':
      return [
        { ...toText(isEnd ? part.text.trimEnd() : part.text), ...defined({ cache_control: asObject(own['cacheControl']) }) },
      ]
    case 'thinking': {
      const { redactedData: data, signature } = own
      if (data !== undefined) return [{ type: 'redacted_thinking', data }]
      return signature === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature }]
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input, ...defined({ caller: own['caller'] }) }]
    case 'opaque':
      return objectsIn([part.own['block']])
    default:
      return []
  }
}

/** Returns the data that Anthropic wants back with a part. */
function ownOf(part: AnswerPart): JsonObject {
  return ('own' in part ? part.own?.['anthropic'] : undefined) ?? {}
}

function isMarked(turn: Turn): boolean {
  return turn.role === 'assistant' && turn.parts.some((part) => ownOf(part)['cacheControl'] !== undefined)
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

/** Schema keywords that Anthropic refuses; they go into the description. The answer is validated against the whole schema later. */
const IN_WORDS = /^(?:(?:exclusive)?(?:min|max)imum|(?:min|max)(?:Length|Items|Properties)|multipleOf|pattern|uniqueItems|not)$/i

/** Converts the schema of an answer, and its nested schemas, to the subset that Anthropic accepts. */
function outputSchema(schema: Json | undefined): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(outputSchema)
  const given = asObject(schema)
  if (given === undefined) return schema ?? {}
  const kept: Record<string, Json | undefined> = {}
  const words: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (IN_WORDS.test(name)) words.push(`${name}: ${JSON.stringify(value)}`)
    else if (/^(?:properties|\$defs|definitions)$/.test(name))
      kept[name] = Object.fromEntries(Object.entries(asObject(value) ?? {}).map(([key, each]) => [key, outputSchema(each)]))
    else if (name === 'oneOf') kept['anyOf'] = outputSchema(value)
    else kept[name] = /^(?:anyOf|allOf|items)$/.test(name) ? outputSchema(value) : value
  }
  if (given['type'] === 'object' || given['properties'] !== undefined) kept['additionalProperties'] = false
  if (words.length > 0) kept['description'] = [asString(given['description']), words.join(', ')].filter(Boolean).join(' ')
  return kept
}
