/** The parts of messages, which preserve order, signatures and provider data of an answer, and the check of parts from callers. */

import { ConfigurationError } from './error.ts'
import type { Json, JsonObject } from './json.ts'

/** Data to send back unchanged to the provider with the part, by provider name. */
export type ProviderData = JsonObject

/** Text. */
export interface TextPart {
  readonly type: 'text'
  /** The text. */
  readonly text: string
  /** Data to send back to the provider with this part. */
  readonly providerData?: ProviderData
}

/** An image. */
export interface ImagePart {
  readonly type: 'image'
  /** The media type: `image/png`, for example. */
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
}

/** A file, such as a PDF. */
export interface FilePart {
  readonly type: 'file'
  /** The media type: `application/pdf`, for example. */
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
  /** The name of the file; default none. */
  readonly filename?: string
}

/** Reasoning of a model. It is sent back only to the model that produced it. */
export interface ThinkingPart {
  readonly type: 'thinking'
  /** The thinking, as far as the provider returns it. */
  readonly text: string
  /** The model that produced it, `provider/model`. */
  readonly model?: string
  /** Opaque: signatures, encrypted or redacted content. */
  readonly providerData?: ProviderData
}

/** A tool call that the model made. */
export interface ToolCallPart {
  readonly type: 'tool-call'
  /** Ties the call to its result. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The parsed arguments; the raw string if they were not valid JSON. */
  readonly input: Json
  /** Fault of the arguments; absent if they are valid. */
  readonly invalid?: string
  /** Data to send back to the provider with this part, such as a signature. */
  readonly providerData?: ProviderData
}

/** The result of a tool call, as sent back to the model. */
export interface ToolResultPart {
  readonly type: 'tool-result'
  /** Id of the tool call. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The result as the model reads it. */
  readonly content: string
  /** The call failed or was refused. */
  readonly isError: boolean
  /** Images and files that the tool returned with its text. */
  readonly attachments?: readonly (ImagePart | FilePart)[]
  /** Set if the call was interrupted and may have had an effect. */
  readonly unknownEffects?: UnknownEffects
}

/** Marks a call that was interrupted after its start and before its result: its effects are unknown. */
export interface UnknownEffects {
  /** The key that the tool received, so that the service it calls can recognise a second try. */
  readonly idempotencyKey: string
}

/** A part that only its provider understands, such as a tool that ran there. Stored and sent back, never shown. */
export interface OpaquePart {
  readonly type: 'opaque'
  /** The provider's name for the kind of the part. */
  readonly kind: string
  /** The part itself, sent back to the provider unchanged. */
  readonly providerData: ProviderData
}

/** A piece of a message. */
export type Part = TextPart | ImagePart | FilePart | ThinkingPart | ToolCallPart | ToolResultPart | OpaquePart

type Fields = Readonly<Record<string, unknown>>
/** Returns the fault of a value; `undefined` if it is valid. */
type Check = (value: unknown) => string | undefined

const text: Check = (value) => (typeof value === 'string' ? undefined : `must be a string, but is ${nameOf(value)}`)
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : `must be true or false, but is ${nameOf(value)}`)
const record: Check = (value) => (isRecord(value) ? undefined : `must be an object, but is ${nameOf(value)}`)
const data: Check = (value) => {
  if (typeof value !== 'string') return text(value)
  return !/^https?:/i.test(value) || URL.canParse(value) ? undefined : 'must be Base64 data or an address'
}
const json: Check = (value) => {
  try {
    return JSON.stringify(value) === undefined ? `must be JSON, but is ${nameOf(value)}` : undefined
  } catch (thrown) {
    return `must be JSON: ${thrown instanceof Error ? thrown.message.split('\n', 1)[0] : 'it cannot be written as such'}`
  }
}
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value)

const attachments: Check = (value) => {
  if (!Array.isArray(value)) return `must be a list, but is ${nameOf(value)}`
  const wrong = value.findIndex((each) => !isRecord(each) || (each['type'] !== 'image' && each['type'] !== 'file'))
  if (wrong >= 0) return `must hold images and files, but number ${wrong} is neither`
  return value.map((each) => problemIn(each)).find((problem) => problem !== undefined)
}

const providerData = optional(json)
const file = { mediaType: text, data, filename: optional(text) }

const FIELDS: Readonly<Record<Part['type'], Readonly<Record<string, Check>>>> = {
  text: { text, providerData },
  image: file,
  file,
  thinking: { text, model: optional(text), providerData },
  'tool-call': { id: text, name: text, input: json, invalid: optional(text), providerData },
  'tool-result': {
    id: text,
    name: text,
    content: text,
    isError: optional(flag),
    attachments: optional(attachments),
    unknownEffects: optional(record),
  },
  opaque: { kind: text, providerData: json },
}

/** Lists that passed the check, so that a conversation is not checked again in every turn. */
const sound = new WeakSet<object>()

/** @throws ConfigurationError that names the place, the expected and the received value. */
export function checkParts(parts: unknown, place: string): asserts parts is readonly Part[] {
  if (!Array.isArray(parts)) throw new ConfigurationError(`${place} must be a list of parts, but is ${nameOf(parts)}.`)
  if (sound.has(parts)) return
  for (const [index, part] of parts.entries()) {
    const problem = problemIn(part)
    if (problem !== undefined) throw new ConfigurationError(`${place}[${index}] ${problem}.`)
  }
  sound.add(parts)
}

/** @throws ConfigurationError if it does not identify the source of a passage. */
export function checkRetrieved(retrieved: unknown, place: string): void {
  const { marker, chunk } = isRecord(retrieved) ? retrieved : {}
  if (typeof marker === 'string' && isRecord(chunk) && ['text', 'source'].every((field) => typeof chunk[field] === 'string')) {
    if (['start', 'end', 'score'].every((field) => typeof chunk[field] === 'number')) return
  }
  throw new ConfigurationError(`${place} must hold a marker, and a chunk with text, source, start, end and score.`)
}

/** Returns the reason that a value is not a valid part; `undefined` for a valid one. */
export function problemIn(part: unknown): string | undefined {
  if (!isRecord(part)) return `must be a part, but is ${nameOf(part)}`
  const { type } = part
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) {
    return `must have one of the types ${Object.keys(FIELDS).join(', ')}, but its type is ${nameOf(type)}`
  }
  for (const [field, check] of Object.entries(FIELDS[type as Part['type']])) {
    const problem = check(part[field])
    if (problem !== undefined) return `is a part of type ${type} whose ${field} ${problem}`
  }
  return undefined
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, 40))
    : Array.isArray(value)
      ? 'a list'
      : `of type ${typeof value}`
}
