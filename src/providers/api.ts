/** What a codec is: a request in, the words of an API out; events of the API in, parts out. And what all of them need. */

import type { Json, JsonObject } from '../core/json.ts'
import type { ModelFacts, ModelRequest, ToolSpec } from '../core/model.ts'
import type { JsonSchema } from '../core/schema.ts'
import type { Answer } from './answer/answer.ts'
import type { ReadUsage } from './answer/usage.ts'
import { toConversation } from './conversation/conversation.ts'
import type { Turn } from './conversation/conversation.ts'
import type { Style } from './conversation/style.ts'
import type { ToolNames } from './conversation/tool-names.ts'
import { wellFormed } from './conversation/well-formed.ts'
import { asObject } from './wire/json.ts'

/** What a request is made of. */
export interface EncodeInput {
  /** The provider's own name of the model. */
  readonly model: string
  readonly ref: string
  readonly facts: ModelFacts
  readonly request: ModelRequest
  readonly style: Style
  readonly names: ToolNames
  /** What the caller has to say to this provider alone, its names in camel case or the API's own. */
  readonly options: JsonObject
  /** Notes what cannot be sent as asked. */
  readonly warn: (message: string) => void
}

export interface Encoded {
  /** Appended to the base URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Reads one answer into parts. Unknown events and members are passed over; a member of another type counts as absent. */
export interface Decoder {
  readonly event: (event: JsonObject) => void
  /** An answer in one piece. */
  readonly whole: (body: JsonObject) => void
  /** The stream has ended, with or without the mark of the API. */
  readonly end: () => void
}

export interface Api {
  /** @throws CriaError `invalid_request` when the API has no way to say it. */
  readonly encode: (input: EncodeInput) => Encoded
  readonly decode: (answer: Answer) => Decoder
  readonly readUsage: ReadUsage
}

export function conversationOf({ request, ref, style, names }: EncodeInput): Turn[] {
  return toConversation(request.messages, { ref, style, names })
}

/** A tool with a name and a schema that every provider takes. */
export function toolOf(tool: ToolSpec, names: ToolNames): { name: string; description: string; schema: JsonObject } {
  return { name: names.out(tool.name), description: wellFormed(tool.description), schema: toObjectSchema(tool.inputSchema) }
}

/** Providers refuse a schema that does not say it is of an object, and OpenAI one without properties. */
function toObjectSchema(schema: JsonSchema): JsonObject {
  const { $schema: _, ...rest } = schema
  const isComposed = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => name in rest)
  return isComposed ? rest : { ...rest, type: 'object', properties: rest['properties'] ?? {} }
}

/** Whether a schema is one for OpenAI's strict mode: every object names all of its properties as required, and allows no others. */
export function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(isStrict)
  const object = asObject(schema)
  if (object === undefined) return true
  const properties = asObject(object['properties'])
  if (properties !== undefined) {
    const required = new Set(Array.isArray(object['required']) ? (object['required'] as readonly Json[]) : [])
    if (object['additionalProperties'] !== false || Object.keys(properties).some((name) => !required.has(name))) return false
  }
  return Object.values(object).every(isStrict)
}

/** `topLogprobs` → `top_logprobs`; names in the API's own spelling stay. */
export function snakeCase(options: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}
