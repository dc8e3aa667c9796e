/** The port to language models: requests, stream parts, facts and settings. */

import type { JsonObject } from './json.ts'
import type { Message, Retrieved } from './message.ts'
import type { OpaquePart, ProviderData, ToolCallPart } from './part.ts'
import type { JsonSchema } from './schema.ts'
import type { Span } from './span.ts'
import type { Usage } from './usage.ts'

/**
 * A language model. `stream` makes exactly one request, without retry, cache or logging: the engine does these.
 *
 * It yields parts until a `finish` part; a stream that ends without one counts as interrupted. It throws a `CriaError` (anything
 * else counts as `internal`). When `ctx.signal` is aborted or the iterator is returned, it closes its connection.
 */
export interface LanguageModel {
  /** `provider/model`, as in events and rows. */
  readonly ref: string
  /** Facts of the model. */
  readonly facts: ModelFacts
  /**
   * Distinguishes it from other models of this `ref`: a hash of its URL, credentials and all else that influences its answers. Absent: the
   * object is its own identity. Models with equal identity may share cached answers.
   */
  readonly identity?: string
  /** Makes exactly one request and yields its parts up to `finish`. Throws a `CriaError` when it fails. */
  stream(request: ModelRequest, ctx: ModelCall): AsyncIterable<ModelPart>
}

/** Facts about a model. `null` means unknown, which is never treated as zero or as unlimited. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly contextWindow: number | null
  /** Maximum tokens of an answer; `null`: unknown. */
  readonly maxOutputTokens: number | null
  /** Absent or `null`: unknown. */
  readonly price?: Price | null
  /** `false`: the system prompt must be sent as a user message. Default true. */
  readonly systemRole?: boolean
  /** The only temperature that the model accepts. */
  readonly fixedTemperature?: number
  /**
   * When the model accepts sampling settings (temperature, topP, topK, penalties): `never`; `unless-thinking`, unless thinking is requested;
   * `thinking-off`, only if thinking is switched off. Default `always`.
   */
  readonly sampling?: 'always' | 'never' | 'unless-thinking' | 'thinking-off'
  /** `false`: the model cannot stream. Default true. */
  readonly streaming?: boolean
  /** The model can call tools; absent: assumed true. */
  readonly tools?: boolean
  /** The model accepts images; absent: assumed true. */
  readonly images?: boolean
  /** The model can think before it answers; absent: unknown. */
  readonly thinking?: boolean
  /** The provider can be made to answer with JSON of a given schema. */
  readonly structuredOutput?: boolean
  /** `false`: not in a request with tools; the schema is then described in the prompt. Default as `structuredOutput`. */
  readonly structuredOutputWithTools?: boolean
  /** `false`: the model only quotes its input and cannot write a summary. Default true. */
  readonly writes?: boolean
  /** `true`: the provider silently cuts off the beginning of a request that is too long. Default false. */
  readonly cutsSilently?: boolean
}

export const UNKNOWN_FACTS: ModelFacts = { contextWindow: null, maxOutputTokens: null }

/** US dollars for a million tokens. */
export interface Rates {
  /** US dollars for a million input tokens. */
  readonly input: number
  /** US dollars for a million output tokens. */
  readonly output: number
  /** US dollars for a million input tokens read from the provider's cache; absent: as `input`. */
  readonly cacheRead?: number
  /** US dollars for a million input tokens written to the provider's cache; absent: as `input`. */
  readonly cacheWrite?: number
  /** The same for tokens that are cached for an hour; default as `cacheWrite`. */
  readonly cacheWrite1h?: number
}

/** US dollars for a million tokens. */
export interface Price extends Rates {
  /** Rates of calls whose input, cached tokens included, exceeds `above` tokens; in ascending order. */
  readonly tiers?: readonly (Rates & { readonly above: number })[]
  /** The day (ISO 8601) on which this price was looked up. */
  readonly asOf?: string
}

/** The context of a model call, beside the request. */
export interface ModelCall {
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** The adapter may add attributes to it (response id, the server's model name). */
  readonly span: Span
}

/** A message as a provider needs it, without the engine's bookkeeping. */
export type RequestMessage = Pick<Message, 'role' | 'content' | 'parts' | 'toolCalls'>

/** A complete request. `retrieved` messages have already been fenced and given the user role. */
export interface ModelRequest extends CallSettings {
  /** `provider/model`. */
  readonly model: string
  /** The conversation, the system prompt first. */
  readonly messages: readonly RequestMessage[]
  /** Tools that the model may call; absent: none. */
  readonly tools?: readonly ToolSpec[]
  /** Absent: the model decides. */
  readonly toolChoice?: ToolChoice
  /** Absent: text. */
  readonly responseFormat?: ResponseFormat
  /** `off` asks the provider not to reason; absent leaves it to the provider. */
  readonly thinking?: ThinkingEffort
  /** `false` requests the whole answer at once. */
  readonly stream: boolean
  /** The passages of the request, for local models that quote. Not sent to providers, whose messages hold them as text. */
  readonly grounding?: Grounding
}

/** The passages of a request, for models and checks that work with them. */
export interface Grounding {
  /** The question as the user put it. */
  readonly question: string
  /** Best first. */
  readonly passages: readonly Retrieved[]
  /** Weight of each analysed word of the question; see `Evidence`. */
  readonly weights: Readonly<Record<string, number>>
}

/** A place that a model quotes, as reported by the model. */
export interface QuotedPassage {
  /** Marker of the passage, without brackets. */
  readonly marker: string
  /** UTF-16 offsets into the text of the passage. */
  readonly start: number
  readonly end: number
  /** UTF-16 offsets into the text of the answer, marker included. */
  readonly claim: { readonly start: number; readonly end: number }
}

/** How much a model thinks before it answers. */
export type ThinkingEffort = 'off' | 'low' | 'medium' | 'high'
/** The tools that the model may or must call. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | {
      /** The name of the one tool that must be called. */
      readonly tool: string
    }
/** The form that the answer must have. */
export interface ResponseFormat {
  readonly type: 'json'
  /** The schema that the JSON must match; absent: any JSON. */
  readonly schema?: JsonSchema
  /** Name of the schema, sent to the provider. */
  readonly name?: string
}

/** A tool, as sent to the model. */
export interface ToolSpec {
  /** The name of the tool. */
  readonly name: string
  /** Describes to the model what the tool does and when to call it. */
  readonly description: string
  /** The arguments, as JSON Schema. */
  readonly inputSchema: JsonSchema
}

/** Settings of a model call; those that a model does not accept are left out, with a notice. */
export interface CallSettings {
  /** 0 to 2 for most models; default the provider's, 0 for bots. */
  readonly temperature?: number
  /** Maximum tokens of the answer; default: the model's limit. */
  readonly maxOutputTokens?: number
  /** Samples from the most probable tokens that add up to this share, 0 to 1; default the provider's. */
  readonly topP?: number
  /** Samples from this many tokens; default the provider's. */
  readonly topK?: number
  /** -2 to 2: makes tokens less likely that occurred already; default the provider's. */
  readonly presencePenalty?: number
  /** -2 to 2: makes tokens less likely the more often they occurred; default the provider's. */
  readonly frequencyPenalty?: number
  /** The answer ends before the first of these texts; default none. */
  readonly stopSequences?: readonly string[]
  /** Requests reproducible answers, if the provider supports it; default none. */
  readonly seed?: number
  /** Options passed through to the provider, by provider name. */
  readonly providerOptions?: JsonObject
}

/** Why a model stopped; `length`: the answer was cut off. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** A piece of a provider's stream. Plain JSON; unknown types are ignored. */
export type ModelPart =
  // content
  | {
      readonly type: 'text'
      /** A piece of the answer. */
      readonly text: string
      /** Data to send back to the provider with this part, such as a signature. */
      readonly providerData?: ProviderData
    }
  | { readonly type: 'thinking'; readonly text: string }
  /** Ends a block of thinking, with the data to send back to the provider. */
  | { readonly type: 'thinking-end'; readonly providerData?: ProviderData }
  // tools
  | {
      readonly type: 'tool-input'
      /** Id of the tool call, or of the provider's answer. */
      readonly id: string
      /** Name of the tool. */
      readonly name: string
      /** A piece of the arguments, as JSON text. */
      readonly delta: string
    }
  /** A complete call; `input` holds the parsed arguments, or the raw string together with `invalid`. */
  | ToolCallPart
  | OpaquePart
  // about the answer
  /** The provider restarts its answer: discard the parts of this attempt so far. */
  | { readonly type: 'restart' }
  | {
      readonly type: 'response'
      readonly id?: string
      /** The model that answered, as reported by the provider. */
      readonly model?: string
    }
  /** Usage of the attempt; a later part replaces an earlier one. */
  | {
      readonly type: 'usage'
      /** Tokens known so far; a later part replaces them. */
      readonly usage: Usage
    }
  | {
      readonly type: 'finish'
      /** Why the model stopped. */
      readonly reason: FinishReason
      /** The provider's own name for the reason. */
      readonly rawReason?: string
      /** The model said that its passages do not hold the answer. */
      readonly abstained?: boolean
      /** Places of the quotes, reported by models that quote; their text is not searched for citations. */
      readonly citations?: readonly QuotedPassage[]
    }
