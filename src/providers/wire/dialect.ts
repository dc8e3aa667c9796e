/** What has to be known about an API to mend its traffic before the package that decodes it sees it. */

import type { JsonObject } from '../../core/json.ts'

/** What was seen on the wire of one call, for those who decode its answer. */
export interface WireNotes {
  /** The API's own mark for "this was all" has come: what follows is no part of the answer. */
  ended: boolean
  /** The provider has said how the answer ended: what is missing now is no part of it, and a connection that breaks does no harm. */
  complete: boolean
  /** Members of the provider's usage, in its own words; a later number replaces an earlier one. */
  usage: JsonObject | undefined
  /** The provider's word for how the answer ended. */
  rawReason: string | undefined
  /** The model that answered, as the provider names it. */
  model: string | undefined
}

export function createNotes(): WireNotes {
  return { ended: false, complete: false, usage: undefined, rawReason: undefined, model: undefined }
}

/**
 * What becomes of one event: it stays as it is, goes, is the last one, begins the answer anew, or is replaced.
 * `restart`: all that came before it is void; the stream that the package reads ends here, and a new one begins with this event.
 */
export type Verdict =
  | 'keep'
  | 'drop'
  | 'last'
  | 'restart'
  /** `before`: events to be told before it, as they are. */
  | { readonly replace: JsonObject; readonly before?: readonly JsonObject[] }

/** Made anew for each call, so that it may remember what came before. */
export interface Dialect {
  /** An event that has none of these in it passes unread; with an empty list every event is read. */
  readonly markers: readonly string[]
  /** Until the answer has begun, every event is read. */
  hasBegun(): boolean
  event(event: JsonObject): Verdict
  /** An event that was replaced was the last one. */
  hasEnded(): boolean
  /** What an event that is a piece of text has in it. */
  readonly deltas: readonly string[]
  /** Adds to an event what the next one says, when both are pieces of the same text; `false`, and nothing is changed, when they are not. */
  absorb(into: JsonObject, next: JsonObject): boolean
  /** An event to add when the stream ends properly without the API's end mark. */
  missingEnd(): JsonObject | undefined
  /** Mends an answer in one piece. */
  body(body: JsonObject): JsonObject
  /** Reduces an answer in one piece to what every version of the API has; used when the package refused the whole. */
  essence(body: JsonObject): JsonObject
}

/** What OpenAI ends a stream with, and others after it, whatever their API. */
export const END_MARK = '[DONE]'

/** Some servers put no empty line after it, and what follows becomes part of the same event. */
export function isEndMark(data: string): boolean {
  return data.trim() === END_MARK || data.startsWith(`${END_MARK}\n`)
}

/** Keep-alives of some servers: an event with nothing in it, or with JSON that has no members. */
export function saysNothing(data: string): boolean {
  return data.trim() === '' || /^\s*(?:null|true|false|-?\d+(?:\.\d+)?|"[^"\\]*")\s*$/.test(data)
}

export type CreateDialect = (notes: WireNotes) => Dialect

/** Status 200, and the answer is an error. */
export class ErrorBody extends Error {
  readonly body: JsonObject
  constructor(body: JsonObject) {
    super('The body of a successful answer is an error.')
    this.name = 'ErrorBody'
    this.body = body
  }
}

/** Later numbers replace earlier ones; what a later report leaves out stays. */
export function noteUsage(notes: WireNotes, usage: unknown): void {
  const object = asObject(usage)
  if (object === undefined) return
  const known = Object.entries(object).filter(([, value]) => value !== null && value !== undefined)
  notes.usage = { ...notes.usage, ...Object.fromEntries(known) }
}

/** A JSON object, or `undefined` for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The members of a list that are objects. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return asArray(value).filter((member): member is JsonObject => asObject(member) !== undefined)
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
