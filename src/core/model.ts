/** The port to language models, and what passes through it. */

import type { JsonObject } from './json.ts'
import type { Message, Retrieved } from './message.ts'
import type { OpaquePart, ProviderData, ToolCallPart } from './part.ts'
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
  /** Facts of the model. */
  readonly facts: ModelFacts
  /**
   * Tells it from other models of this `ref`: a hash of where it is, as whom it is asked and what else has a say in its answers. Absent: the object
   * itself is what tells it. Models of one identity may share their answers.
   */
  readonly identity?: string
  /** Makes exactly one request and yields its parts up to `finish`. Throws a `CriaError` when it fails. */
  stream(request: ModelRequest, ctx: ModelCall): AsyncIterable<ModelPart>
}

/** Facts about a model. `null` is "nobody knows", which is never treated as zero or as unlimited. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly contextWindow: number | null
  /** Tokens of an answer at most; `null`: not known. */
  readonly maxOutputTokens: number | null
  /** Absent or `null`: unknown. */
  readonly price?: Price | null
  /** `false`: the system prompt has to travel as a user message. Default true. */
  readonly systemRole?: boolean
  /** The only temperature that the model takes. */
  readonly fixedTemperature?: number
  /**
   * When it takes the settings of sampling (temperature, topP, topK and penalties): `never`; `unless-thinking`, not while it is asked to think;
   * `thinking-off`, only when it is asked not to think. Default `always`.
   */
  readonly sampling?: 'always' | 'never' | 'unless-thinking' | 'thinking-off'
  /** `false`: the model cannot stream. Default true. */
  readonly streaming?: boolean
  /** The model can call tools; absent: it is taken to. */
  readonly tools?: boolean
  /** The model takes images; absent: it is taken to. */
  readonly images?: boolean
  /** The model can think before it answers; absent: not known. */
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
  /** US dollars for a million input tokens. */
  readonly input: number
  /** US dollars for a million output tokens. */
  readonly output: number
  /** US dollars for a million input tokens that are read from the provider's cache; absent: as `input`. */
  readonly cacheRead?: number
  /** US dollars for a million input tokens that are written to the provider's cache; absent: as `input`. */
  readonly cacheWrite?: number
  /** For what is kept for an hour; default as `cacheWrite`. */
  readonly cacheWrite1h?: number
}

/** US dollars for a million tokens. */
export interface Price extends Rates {
  /** For calls whose input, with what was cached, is longer than `above` tokens; the least first. */
  readonly tiers?: readonly (Rates & { readonly above: number })[]
  /** The day (ISO 8601) on which this price was looked up. */
  readonly asOf?: string
}

/** The context of a model call, beside the request. */
export interface ModelCall {
  /** Aborting it ends the request. */
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
  /** `false` asks for one answer in one piece. */
  readonly stream: boolean
  /** The passages of the request, for models that work on words. It is in the messages as text too; providers are not sent this. */
  readonly grounding?: Grounding
}

/** The passages of a request, for models and checks that work with them. */
export interface Grounding {
  /** The question as the user put it. */
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

/** How much a model thinks before it answers. */
export type ThinkingEffort = 'off' | 'low' | 'medium' | 'high'
/** The tools that the model may or has to call. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | {
      /** The name of the one tool that has to be called. */
      readonly tool: string
    }
/** The form that the answer must have. */
export interface ResponseFormat {
  readonly type: 'json'
  /** The schema that the JSON must fit; absent: any JSON. */
  readonly schema?: JsonSchema
  /** Names the schema to the provider. */
  readonly name?: string
}

/** A tool as the model sees it. */
export interface ToolSpec {
  /** The name of the tool. */
  readonly name: string
  /** Tells the model what the tool does and when to call it. */
  readonly description: string
  /** The arguments, as JSON Schema. */
  readonly inputSchema: JsonSchema
}

/** Settings of a model call; what a model does not take is left out, with a notice. */
export interface CallSettings {
  /** 0 to 2 for most models; default the provider's, 0 for bots. */
  readonly temperature?: number
  /** Tokens of the answer at most; default what the model can. */
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
  /** Asks for the same answer to the same request, where a provider can; default none. */
  readonly seed?: number
  /** Passed through to the provider, by provider name. */
  readonly providerOptions?: JsonObject
}

/** Why a model stopped; `length`: the answer was cut off. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** A piece of a provider's stream. Plain JSON; a kind that a station does not know is ignored. */
export type ModelPart =
  // content
  | {
      readonly type: 'text'
      /** A piece of the answer. */
      readonly text: string
      /** Data that the provider wants back with this part, such as a signature. */
      readonly providerData?: ProviderData
    }
  | { readonly type: 'thinking'; readonly text: string }
  /** Ends a block of thinking; carries what the provider wants back with it. */
  | { readonly type: 'thinking-end'; readonly providerData?: ProviderData }
  // tools
  | {
      readonly type: 'tool-input'
      /** Of the tool call, or of the provider's answer. */
      readonly id: string
      /** Of the tool. */
      readonly name: string
      /** A piece of the arguments, as JSON text. */
      readonly delta: string
    }
  /** A whole call; `input` is the parsed arguments, or the raw string together with `invalid`. */
  | ToolCallPart
  | OpaquePart
  // about the answer
  /** The provider begins its answer anew: what this attempt has said so far is void. */
  | { readonly type: 'restart' }
  | {
      readonly type: 'response'
      readonly id?: string
      /** The model that the provider says has answered. */
      readonly model?: string
    }
  /** Set, not added: a later one replaces an earlier one of the same attempt. */
  | {
      readonly type: 'usage'
      /** Tokens as far as they are known by now; a later part replaces it. */
      readonly usage: Usage
    }
  | {
      readonly type: 'finish'
      /** Why the model stopped. */
      readonly reason: FinishReason
      /** The same in the provider's words. */
      readonly rawReason?: string
      /** The model said that its passages do not hold the answer. */
      readonly abstained?: boolean
      /** Of a model that quotes: where each of its quotes stands. They are not looked for in its text. */
      readonly citations?: readonly QuotedPassage[]
    }
