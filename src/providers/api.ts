/** Types the codec of an API, which encodes requests and decodes their answers. */

import type { JsonObject } from '../core/json.ts'
import type { ModelFacts, ModelRequest } from '../core/model.ts'
import type { Answer } from './answer/answer.ts'
import type { ReadUsage } from './answer/usage.ts'
import type { Turn } from './conversation/conversation.ts'
import type { StyleName } from './conversation/style.ts'
import type { ToolNames } from './conversation/names.ts'

export type ApiName = 'chat' | 'responses' | 'messages' | 'gemini'

export interface Api {
  /** @throws CriaError `invalid_request` when the API has no way to say it. */
  readonly encode: (input: EncodeInput) => Encoded
  readonly decode: (answer: Answer) => Decoder
  readonly readUsage: ReadUsage
}

/** A request, prepared for any API by `prepareRequest`. */
export interface EncodeInput {
  /** The provider's own name of the model. */
  readonly model: string
  /** `provider/model`. */
  readonly ref: string
  readonly facts: ModelFacts
  readonly request: ModelRequest
  readonly style: StyleName
  readonly names: ToolNames
  /** The messages, in the style of the API. */
  readonly turns: readonly Turn[]
  /** The tools, with names and schemas that every provider takes. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: JsonObject }[]
  /** The caller's options for this provider alone, their names in camel case or the API's own. */
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
  /** Reads an answer in one piece. */
  readonly whole: (body: JsonObject) => void
  /** The stream has ended, with or without the API's own mark. */
  readonly end: () => void
}
