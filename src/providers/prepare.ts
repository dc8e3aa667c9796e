/** Prepares a request for any API, and holds what the encoders of several APIs share. */

import { CriaError } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ToolSpec } from '../core/model.ts'
import type { EncodeInput } from './api.ts'
import { toConversation } from './conversation/conversation.ts'
import type { Attachment, Turn } from './conversation/conversation.ts'
import type { ToolNames } from './conversation/names.ts'
import { wellFormed } from './conversation/names.ts'
import { STYLES } from './conversation/style.ts'
import { LEAST_EFFORT, SAMPLES_WITHOUT_EFFORT } from './facts.ts'
import { asArray, asObject } from './wire/json.ts'

export function prepareRequest(input: Omit<EncodeInput, 'turns' | 'tools'>): EncodeInput {
  const { request, ref, style, names } = input
  return {
    ...input,
    turns: toConversation(request.messages, { ref, style: STYLES[style], names }),
    tools: toolsOf(request.tools, names),
  }
}

/** Returns tools with names and schemas that every provider accepts: schemas need `type: 'object'`, and for OpenAI also `properties`. */
export function toolsOf(tools: readonly ToolSpec[] = [], names: ToolNames): EncodeInput['tools'] {
  return tools.map(({ name, description, inputSchema: { $schema: _, ...schema } }) => {
    const isComposed = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((member) => member in schema)
    const whole = isComposed ? schema : { ...schema, type: 'object', properties: schema['properties'] ?? {} }
    return { name: names.out(name), description: wellFormed(description), schema: whole }
  })
}

/** Encodes the tool choice. @param forced encodes that the tool of this name must be called. */
export function choiceOf({ request: { toolChoice }, names }: EncodeInput, forced: (name: string) => Json): Json | undefined {
  return typeof toolChoice === 'object' ? forced(names.out(toolChoice.tool)) : toolChoice
}

/** Encodes the option `tools`, which lists tools that the provider runs. @param known definitions by a name that all APIs share. */
export function ranByProvider<T extends object>(asked: unknown, known: Readonly<Record<string, T>>): (T | JsonObject)[] {
  return asArray(asked).map((tool) => known[String(tool)] ?? (tool as JsonObject))
}

/** Returns the list, or `undefined` if it is empty, so that its member is left out. */
export function nonEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list
}

/** Renames members: `topLogprobs` → `top_logprobs`. Names that are already in snake case stay. */
export function snakeCase(options: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}

export function cannotSend({ mediaType }: Attachment, provider: string): CriaError {
  return new CriaError('invalid_request', `${provider} cannot be sent a file of type ${mediaType}.`, {
    hint: 'Send it as text, or use a model that takes such files.',
  })
}

/** Returns the reasoning effort for a model of OpenAI; `undefined` leaves it to the provider. */
export function effortOf({ model, request: { thinking }, options }: EncodeInput): string | undefined {
  const given = options['reasoningEffort'] ?? options['reasoning_effort']
  if (typeof given === 'string') return given
  return thinking === 'off' ? (LEAST_EFFORT.find(({ models }) => models.test(model))?.effort ?? 'none') : thinking
}

/**
 * Encodes sampling settings for OpenAI's APIs. Reasoning models refuse them; some accept them if the effort is `none`.
 * @param penalties whether the API has penalties.
 */
export function samplingOf(
  { model, facts, request, warn }: EncodeInput,
  effort: string | undefined,
  penalties: boolean,
): JsonObject {
  const { temperature, topP, frequencyPenalty, presencePenalty } = request
  const samples = facts.thinking !== true || (effort === 'none' && SAMPLES_WITHOUT_EFFORT.test(model))
  const taken: [sent: string, name: string, value: number | undefined, isTaken: boolean][] = [
    ['temperature', 'temperature', temperature, samples],
    ['top_p', 'topP', topP, samples],
    ['frequency_penalty', 'frequencyPenalty', frequencyPenalty, facts.thinking !== true],
    ['presence_penalty', 'presencePenalty', presencePenalty, facts.thinking !== true],
  ]
  for (const [, name, value, isTaken] of taken) {
    // A fixed temperature comes from the facts of the model, not from the caller.
    const isOurs = name === 'temperature' && facts.fixedTemperature !== undefined
    if (value !== undefined && !isTaken && !isOurs) warn(`${model} is a reasoning model and does not take ${name}.`)
  }
  return Object.fromEntries(
    taken.flatMap(([sent, , value, isTaken]) => (isTaken && (penalties || !sent.endsWith('penalty')) ? [[sent, value]] : [])),
  )
}

/** Encodes the response format for OpenAI's APIs; `undefined` for text. @param place wraps the named schema as the API expects. */
export function formatOf(
  { request: { responseFormat }, options }: EncodeInput,
  place: (schema: JsonObject) => JsonObject,
): JsonObject | undefined {
  if (responseFormat === undefined) return undefined
  const { schema, name = 'response' } = responseFormat
  if (schema === undefined) return { type: 'json_object' }
  const strict = options['strictJsonSchema'] ?? options['strict_json_schema'] ?? isStrict(schema)
  return { type: 'json_schema', ...place({ name, schema, strict }) }
}

/** Returns whether a schema fits OpenAI's strict mode: every object requires all of its properties, and allows no others. */
function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(isStrict)
  const object = asObject(schema)
  if (object === undefined) return true
  const properties = asObject(object['properties'])
  const required = new Set(asArray(object['required']))
  const isOpen = object['additionalProperties'] !== false || Object.keys(properties ?? {}).some((name) => !required.has(name))
  return !(properties !== undefined && isOpen) && Object.values(object).every(isStrict)
}

/** Anthropic accepts four marks; the first is for tools and instructions. An older mark is free, and hits the cache entry of an earlier step. */
const MARKS_IN_CONVERSATION = 3

/**
 * Returns the indexes of the turns whose last block is a cache breakpoint of Anthropic; -1 means the last tool, if there are no instructions.
 * Everything before a breakpoint is cached. It pays if the next request has the same prefix, so the places depend on the conversation alone: after
 * tools and instructions, after tool results, and after the answers of earlier turns. Retrieved passages, which change in each turn, come after all of
 * these. https://docs.claude.com/en/docs/build-with-claude/prompt-caching
 */
export function cacheMarks(turns: readonly Turn[]): ReadonlySet<number> {
  const firstOther = turns.findIndex(({ role }) => role !== 'system')
  const places = new Set([(firstOther < 0 ? turns.length : firstOther) - 1])
  for (let at = turns.length - 1, left = MARKS_IN_CONVERSATION; at >= 0 && left > 0; at--) {
    if (!standsStill(turns[at], turns[at + 1])) continue
    places.add(at)
    left--
  }
  return places
}

function standsStill(turn: Turn | undefined, next: Turn | undefined): boolean {
  if (turn?.role === 'tool') return true
  return turn?.role === 'assistant' && turn.parts.at(-1)?.type === 'text' && next?.role === 'user'
}
