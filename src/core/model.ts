/** The port to language models, and what passes through it. */

import type { Json, JsonObject } from './json.ts'
import type { Message, Retrieved } from './message.ts'
import type { ProviderData } from './part.ts'
import type { JsonSchema } from './schema.ts'
import type { Span } from './span.ts'
import type { Usage } from './usage.ts'

/**
 * A language model. `stream` makes exactly one request: no retry, no cache and no logging here, policy is ours.
 *
 * It yields parts until a `finish` part; a stream that ends without one counts as interrupted. It throws a `CriaError` (or anything,
 * which then counts as `internal`). When `ctx.signal` is aborted, or the iterator is returned, it closes its connection.
 */
export interface LanguageModel {
  /** `provider/model`, as it stands in events and rows. */
  readonly ref: string
  readonly facts: ModelFacts
  /**
   * Tells it from other models of this `ref`: a hash of where it is, as whom it is asked and what else has a say in its answers. Absent: the object
   * itself is what tells it. Models of one identity may share their answers.
   */
  readonly identity?: string
  stream(request: ModelRequest, ctx: ModelCall): AsyncIterable<ModelPart>
}

/** What is known about a model. `null` is "nobody knows", which is never treated as zero or as unlimited. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  /** Absent or `null`: unknown. */
  readonly price?: Price | null
  /** `false`: the system prompt has to travel as a user message. Default true. */
  readonly systemRole?: boolean
  /** The only temperature that the model takes. */
  readonly fixedTemperature?: number
  /**
   * Whether it takes the settings of sampling (temperature, topP, topK and penalties): `never`; `unless-thinking`, not while it is asked to think;
   * `thinking-off`, only when it is asked not to think. Default `always`.
   */
  readonly sampling?: 'always' | 'never' | 'unless-thinking' | 'thinking-off'
  /** `false`: the model cannot stream. Default true. */
  readonly streaming?: boolean
  readonly tools?: boolean
  readonly images?: boolean
  readonly thinking?: boolean
  /** The provider can be made to answer with JSON of a given schema. */
  readonly structuredOutput?: boolean
  /** `false`: not in a request that offers tools; the model is then told about the JSON in words. Default as `structuredOutput`. */
  readonly structuredOutputWithTools?: boolean
  /** `false`: the model only quotes what it is given, and cannot be asked to write a summary. Default true. */
  readonly writes?: boolean
  /** `true`: it cuts off the beginning of a request that is too long, and answers the rest. Default false. */
  readonly cutsSilently?: boolean
}

export const UNKNOWN_FACTS: ModelFacts = { contextWindow: null, maxOutputTokens: null }

/** US dollars for a million tokens. */
export interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** For what is kept for an hour; default as `cacheWrite`. */
  readonly cacheWrite1h?: number
}

export interface Price extends Rates {
  /** For calls whose input, with what was cached, is longer than `above` tokens; the least first. */
  readonly tiers?: readonly (Rates & { readonly above: number })[]
  /** The day (ISO 8601) on which this price was looked up. */
  readonly asOf?: string
}

export interface ModelCall {
  readonly signal: AbortSignal
  /** Where the adapter may note what it learns (response id, server's model name). */
  readonly span: Span
}

/** A message as a provider needs it: what was said and by whom, nothing of our own bookkeeping. */
export type RequestMessage = Pick<Message, 'role' | 'content' | 'parts' | 'toolCalls'>

/** One call, complete. `retrieved` messages have been fenced and given the user role before. */
export interface ModelRequest extends CallSettings {
  /** `provider/model`. */
  readonly model: string
  readonly messages: readonly RequestMessage[]
  readonly tools?: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  readonly responseFormat?: ResponseFormat
  /** `off` asks the provider not to reason; absent leaves it to the provider. */
  readonly thinking?: ThinkingEffort
  /** `false` asks for one answer in one piece. */
  readonly stream: boolean
  /** What retrieval found, for models that work on words. It is in the messages as text too; providers are not sent this. */
  readonly grounding?: Grounding
}

export interface Grounding {
  readonly question: string
  /** Best first. */
  readonly passages: readonly Retrieved[]
  /** Weight of each analysed word of the question, see `Evidence`. */
  readonly weights: Readonly<Record<string, number>>
}

/** A place that a model quotes, told by the model itself. */
export interface QuotedPassage {
  /** Of the passage, without brackets. */
  readonly marker: string
  /** UTF-16 offsets into the text of the passage. */
  readonly start: number
  readonly end: number
  /** UTF-16 offsets into the text of the answer, marker included. */
  readonly claim: { readonly start: number; readonly end: number }
}

export type ThinkingEffort = 'off' | 'low' | 'medium' | 'high'
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string }
export interface ResponseFormat {
  readonly type: 'json'
  readonly schema?: JsonSchema
  readonly name?: string
}

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export interface CallSettings {
  readonly temperature?: number
  readonly maxOutputTokens?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  /** Passed through to the provider, by provider name. */
  readonly providerOptions?: JsonObject
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** What a provider streams. Plain JSON; a kind that a station does not know is ignored. */
export type ModelPart =
  // content
  | { readonly type: 'text'; readonly text: string; readonly providerData?: ProviderData }
  | { readonly type: 'thinking'; readonly text: string }
  /** Ends a block of thinking; carries what the provider wants back with it. */
  | { readonly type: 'thinking-end'; readonly providerData?: ProviderData }
  // tools
  | { readonly type: 'tool-input'; readonly id: string; readonly name: string; readonly delta: string }
  /** A whole call; `input` is the parsed arguments, or the raw string together with `invalid`. */
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      readonly input: Json
      readonly invalid?: string
      readonly providerData?: ProviderData
    }
  | { readonly type: 'opaque'; readonly kind: string; readonly providerData: ProviderData }
  // about the answer
  /** The provider begins its answer anew: what this attempt has said so far is void. */
  | { readonly type: 'restart' }
  | { readonly type: 'response'; readonly id?: string; readonly model?: string }
  /** Set, not added: a later one replaces an earlier one of the same attempt. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish'
      readonly reason: FinishReason
      readonly rawReason?: string
      readonly abstained?: boolean
      /** Of a model that quotes: where each of its quotes stands. They are not looked for in its text. */
      readonly citations?: readonly QuotedPassage[]
    }
