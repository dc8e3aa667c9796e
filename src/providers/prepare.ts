/** Prepares a request for any API, and says what the encoders of several APIs say alike. */

import { CriaError } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ToolSpec } from '../core/model.ts'
import type { EncodeInput } from './api.ts'
import { toConversation } from './conversation/conversation.ts'
import type { Attachment } from './conversation/conversation.ts'
import type { ToolNames } from './conversation/names.ts'
import { wellFormed } from './conversation/names.ts'
import { STYLES } from './conversation/style.ts'
import { LEAST_EFFORT, SAMPLES_WITHOUT_EFFORT } from './facts-table.ts'
import { asArray, asObject } from './wire/json.ts'

export function prepareRequest(input: Omit<EncodeInput, 'turns' | 'tools'>): EncodeInput {
  const { request, ref, style, names } = input
  return {
    ...input,
    turns: toConversation(request.messages, { ref, style: STYLES[style], names }),
    tools: toolsOf(request.tools, names),
  }
}

/** Tools with names and schemas that every provider takes: one that does not say it is of an object is refused, and by OpenAI one without properties. */
export function toolsOf(tools: readonly ToolSpec[] = [], names: ToolNames): EncodeInput['tools'] {
  return tools.map(({ name, description, inputSchema: { $schema: _, ...schema } }) => {
    const isComposed = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((member) => member in schema)
    const whole = isComposed ? schema : { ...schema, type: 'object', properties: schema['properties'] ?? {} }
    return { name: names.out(name), description: wellFormed(description), schema: whole }
  })
}

/** The tool choice where tools are offered. @param forced says that a tool of this name is to be called. */
export function choiceOf({ request: { toolChoice }, names }: EncodeInput, forced: (name: string) => Json): Json | undefined {
  return typeof toolChoice === 'object' ? forced(names.out(toolChoice.tool)) : toolChoice
}

/** Tools that the provider runs, which the caller has asked for in the option `tools`. @param known by the name under which every API offers them. */
export function ranByProvider<T extends object>(asked: unknown, known: Readonly<Record<string, T>>): (T | JsonObject)[] {
  return asArray(asked).map((tool) => known[String(tool)] ?? (tool as JsonObject))
}

/** The list, or `undefined` where it is empty: a member that is left out. */
export function nonEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list
}

/** `topLogprobs` → `top_logprobs`; names in the API's own spelling stay. */
export function snakeCase(options: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}

export function cannotSend({ mediaType }: Attachment, provider: string): CriaError {
  return new CriaError('invalid_request', `${provider} cannot be sent a file of type ${mediaType}.`, {
    hint: 'Give it as text, or ask a model of a provider that takes such files.',
  })
}

/** The effort that a model of OpenAI is asked to reason with; `undefined` leaves it to the provider. */
export function effortOf({ model, request: { thinking }, options }: EncodeInput): string | undefined {
  const given = options['reasoningEffort'] ?? options['reasoning_effort']
  if (typeof given === 'string') return given
  return thinking === 'off' ? (LEAST_EFFORT.find(({ models }) => models.test(model))?.effort ?? 'none') : thinking
}

/**
 * Settings of sampling as OpenAI takes them: its reasoning models refuse them, unless they are told not to reason.
 * @param penalties the API takes penalties.
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
    // A temperature that the model insists on was not asked for by anybody.
    const isOurs = name === 'temperature' && facts.fixedTemperature !== undefined
    if (value !== undefined && !isTaken && !isOurs) warn(`${model} reasons, and does not take ${name}.`)
  }
  return Object.fromEntries(
    taken.flatMap(([sent, , value, isTaken]) => (isTaken && (penalties || !sent.endsWith('penalty')) ? [[sent, value]] : [])),
  )
}

/** The format of an answer as OpenAI names it; `undefined` where text is asked for. @param place where a schema with its name stands. */
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

/** Tells whether a schema is one for OpenAI's strict mode: every object names all of its properties as required, and allows no others. */
function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(isStrict)
  const object = asObject(schema)
  if (object === undefined) return true
  const properties = asObject(object['properties'])
  const required = new Set(asArray(object['required']))
  const isOpen = object['additionalProperties'] !== false || Object.keys(properties ?? {}).some((name) => !required.has(name))
  return !(properties !== undefined && isOpen) && Object.values(object).every(isStrict)
}
