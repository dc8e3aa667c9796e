/** The parts of messages. Parts keep the order, the signatures and the provider's own data of an answer. */

import type { Json, JsonObject } from './json.ts'

/** What a provider wants back unchanged with the part in the next request, by provider name. */
export type ProviderData = JsonObject

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly providerData?: ProviderData
}

export interface ImagePart {
  readonly type: 'image'
  /** For example `image/png`. */
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
}

export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
  readonly filename?: string
}

/** Reasoning of a model. Only the model that made it may get it back. */
export interface ThinkingPart {
  readonly type: 'thinking'
  readonly text: string
  /** The model that thought this, `provider/model`. */
  readonly model?: string
  /** Opaque: signatures, encrypted or redacted content. */
  readonly providerData?: ProviderData
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** The parsed arguments; the raw string where they were no JSON. */
  readonly input: Json
  /** Why the arguments cannot be used, where they cannot. */
  readonly invalid?: string
  readonly providerData?: ProviderData
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  /** Id of the call that this answers. */
  readonly id: string
  readonly name: string
  readonly content: string
  readonly isError: boolean
  /** Images and files that the tool returned beside its text. */
  readonly attachments?: readonly (ImagePart | FilePart)[]
  readonly unknownEffects?: UnknownEffects
}

/** The call had been started and was interrupted before it had a result: nobody knows what it did. */
export interface UnknownEffects {
  /** What its tool was told: a second try under the same key can be recognised where the effect was to happen. */
  readonly idempotencyKey: string
}

/** Something only its provider understands (a tool that ran there, say); kept and sent back, never shown. */
export interface OpaquePart {
  readonly type: 'opaque'
  readonly kind: string
  readonly providerData: ProviderData
}

export type Part = TextPart | ImagePart | FilePart | ThinkingPart | ToolCallPart | ToolResultPart | OpaquePart
