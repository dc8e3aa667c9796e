/** The parts of messages. Parts keep the order, the signatures and the provider's own data of an answer. */

import type { Json, JsonObject } from './json.ts'

/** What a provider wants back unchanged with the part in the next request, by provider name. */
export type ProviderData = JsonObject

/** Text. */
export interface TextPart {
  readonly type: 'text'
  /** The text. */
  readonly text: string
  /** What the provider wants back with this part. */
  readonly providerData?: ProviderData
}

/** An image. */
export interface ImagePart {
  readonly type: 'image'
  /** For example `image/png`. */
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
}

/** A file, such as a PDF. */
export interface FilePart {
  readonly type: 'file'
  /** `application/pdf`, for example. */
  readonly mediaType: string
  /** Base64 data, or a URL that starts with `http`. */
  readonly data: string
  /** The name of the file; default none. */
  readonly filename?: string
}

/** Reasoning of a model. Only the model that made it may get it back. */
export interface ThinkingPart {
  readonly type: 'thinking'
  /** Thinking of the model, as far as the provider shows it. */
  readonly text: string
  /** The model that thought this, `provider/model`. */
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
  /** The parsed arguments; the raw string where they were no JSON. */
  readonly input: Json
  /** Why the arguments cannot be used, where they cannot. */
  readonly invalid?: string
  /** What the provider wants back with this part, such as a signature. */
  readonly providerData?: ProviderData
}

/** The result of a tool call, as it goes back to the model. */
export interface ToolResultPart {
  readonly type: 'tool-result'
  /** Id of the call that this answers. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The result as the model reads it. */
  readonly content: string
  /** The call failed or was refused. */
  readonly isError: boolean
  /** Images and files that the tool returned beside its text. */
  readonly attachments?: readonly (ImagePart | FilePart)[]
  /** Set where the call was interrupted and may have had its effect. */
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
  /** The provider's name for the kind of the part. */
  readonly kind: string
  /** The part itself, which goes back to the provider unchanged. */
  readonly providerData: ProviderData
}

/** A piece of a message. */
export type Part = TextPart | ImagePart | FilePart | ThinkingPart | ToolCallPart | ToolResultPart | OpaquePart
