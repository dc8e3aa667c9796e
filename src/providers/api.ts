/** Defines the interface of an API codec, which encodes requests and decodes answers. */

import type { JsonObject } from '../core/json.ts'
import type { ModelFacts, ModelRequest } from '../core/model.ts'
import type { Answer } from './answer/answer.ts'
import type { ReadUsage } from './answer/usage.ts'
import type { Turn } from './conversation/conversation.ts'
import type { StyleName } from './conversation/style.ts'
import type { ToolNames } from './conversation/names.ts'

export type ApiName = 'chat' | 'responses' | 'messages' | 'gemini'

export interface Api {
  /** @throws CriaError `invalid_request` when the API cannot express the request. */
  readonly encode: (input: EncodeInput) => Encoded
  readonly decode: (answer: Answer) => Decoder
  readonly readUsage: ReadUsage
}

/** A request, prepared for any API by `prepareRequest`. */
export interface EncodeInput {
  /** The provider's name for the model. */
  readonly model: string
  /** `provider/model`. */
  readonly ref: string
  readonly facts: ModelFacts
  readonly request: ModelRequest
  readonly style: StyleName
  readonly names: ToolNames
  /** The messages, in the style of the API. */
  readonly turns: readonly Turn[]
  /** The tools, with names and schemas that every provider accepts. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: JsonObject }[]
  /** The caller's `providerOptions` for this provider, named in camel case or as in the API. */
  readonly options: JsonObject
  /** Reports a setting that cannot be sent. */
  readonly warn: (message: string) => void
}

export interface Encoded {
  /** Appended to the base URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Decodes one answer into parts. Unknown events and members are ignored; a member of the wrong type counts as absent. */
export interface Decoder {
  readonly event: (event: JsonObject) => void
  /** Decodes an answer that was not streamed. */
  readonly whole: (body: JsonObject) => void
  /** Called when the stream has ended, with or without the API's end mark. */
  readonly end: () => void
}
