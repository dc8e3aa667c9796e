/**
 * Assembles the parts of one answer from the calls of a decoder. For every API, it joins text that arrives together into one part, closes blocks of
 * thinking, makes the ids of tool calls unique, and joins the halves of a surrogate pair.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { FinishReason, ModelPart } from '../../core/model.ts'
import type { ProviderData } from '../../core/part.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { mergeMetadata, toProviderData } from '../conversation/own-data.ts'
import type { ToolNames } from '../conversation/names.ts'
import { asObject } from '../wire/json.ts'
import { ThinkTags } from './think-tags.ts'
import type { Piece } from './think-tags.ts'
import type { ReadUsage } from './usage.ts'

export interface AnswerContext {
  /** `provider/model` that answers. */
  readonly ref: string
  readonly names: ToolNames
  /** Ids of tool calls in use: those of the conversation, to which those of this answer are added. */
  readonly takenIds: Set<string>
  readonly createId: () => string
  /** Splits text that begins with `<think>` into thinking and text. */
  readonly thinkTags: boolean
}

interface Call {
  readonly id: string
  readonly name: string
  text: string
}

/** The first half of a surrogate pair. */
const HALF = /[\uD800-\uDBFF]/

/** Identifies a block of thinking, or a tool call, within a decoder. */
type Key = number | string
type Kind = 'text' | 'thinking'

export class Answer {
  /** The provider has begun to answer. */
  hasBegun = false
  /** The answer is not streamed, so its end is certain. */
  isWhole = false
  /** The API's end mark has arrived: later bytes are not part of the answer. */
  ended = false
  /** The finish reason has arrived: nothing of the answer is lost if the connection breaks now. */
  complete = false
  /** The finish reason in the provider's own word. */
  rawReason: string | undefined
  /** The finish reason to which an AI SDK model has mapped `rawReason`. */
  reason: FinishReason | undefined
  /** A part of the answer is a refusal. */
  refused = false
  /** At least one part that can be displayed has arrived. */
  hasContent = false
  /** Number of tool calls that the caller has to run. */
  calls = 0
  readonly context: AnswerContext
  #parts: ModelPart[] = []
  /** The last text part, which further text extends until `take()` returns it. */
  #growing: { type: Kind; text: string } | undefined
  readonly #readUsage: ReadUsage
  #rawUsage: JsonObject | undefined
  #usageChanged = false
  #thinkTags: ThinkTags | undefined
  /** The open block of thinking, with the data that its provider wants back. */
  #thinking: { readonly key: Key; data: JsonObject | undefined } | undefined
  readonly #open = new Map<Key, Call>()
  #response: { readonly id?: string; readonly model?: string } = {}

  constructor(context: AnswerContext, readUsage: ReadUsage) {
    this.context = context
    this.#readUsage = readUsage
    this.#thinkTags = context.thinkTags ? new ThinkTags() : undefined
  }

  /** Returns the parts that were added since the last call; half a surrogate pair at their end waits for its other half, or for another part. */
  take(): readonly ModelPart[] {
    const parts = this.#takeAll()
    const last = this.#growing
    if (last === undefined || parts.at(-1) !== last || !HALF.test(last.text.slice(-1))) return parts
    this.#growing = { type: last.type, text: last.text.slice(-1) }
    this.#parts = [this.#growing]
    last.text = last.text.slice(0, -1)
    return last.text === '' ? parts.slice(0, -1) : parts
  }

  /** Returns the remaining parts of an answer that broke off, including text that was held back. */
  takeLast(): readonly ModelPart[] {
    this.#addPieces(this.#thinkTags?.end(false) ?? [])
    return this.#takeAll()
  }

  #takeAll(): readonly ModelPart[] {
    const parts = this.#usageChanged ? [this.#usagePart(), ...this.#parts] : this.#parts
    this.#parts = []
    return parts
  }

  text(text: string): void {
    if (text === '') return
    this.#closeThinking()
    if (this.#thinkTags === undefined) this.#append('text', text)
    else this.#addPieces(this.#thinkTags.push(text))
  }

  /** Ends a text part. @param data sent back to the provider with the text. */
  endText(data: JsonObject | undefined): void {
    const own = this.#own(data)
    if (own.providerData !== undefined) this.#parts.push({ type: 'text', text: '', ...own })
  }

  /** Adds text to a block of thinking. @param data sent back to the provider with the block; merged with earlier data of the block. */
  think(key: Key, text: string, data?: JsonObject): void {
    if (this.#thinking?.key !== key) this.#closeThinking()
    if (text === '' && data === undefined) return
    this.#thinking ??= { key, data: undefined }
    if (data !== undefined) this.#thinking.data = mergeMetadata(this.#thinking.data, data)
    if (text !== '') this.#append('thinking', text)
  }

  endThinking(key: Key, data?: JsonObject): void {
    const open = this.#thinking?.key === key ? this.#thinking : undefined
    const own = this.#own(mergeMetadata(open?.data, data))
    if (open === undefined && own.providerData === undefined) return
    if (open !== undefined) this.#thinking = undefined
    this.#parts.push({ type: 'thinking-end', ...own })
  }

  /** Begins a tool call whose arguments are streamed. */
  startCall(key: Key, id: string, name: string): void {
    const call: Call = { id: this.#uniqueId(id), name: this.context.names.back(name), text: '' }
    this.#open.set(key, call)
    this.#parts.push({ type: 'tool-input', id: call.id, name: call.name, delta: '' })
    this.hasContent = true
  }

  hasOpen(key: Key): boolean {
    return this.#open.has(key)
  }

  addInput(key: Key, delta: string): void {
    const call = this.#open.get(key)
    if (call === undefined || delta === '') return
    call.text += delta
    const last = this.#parts.at(-1)
    if (last?.type === 'tool-input' && last.id === call.id && last.delta !== '')
      this.#parts[this.#parts.length - 1] = { ...last, delta: last.delta + delta }
    else this.#parts.push({ type: 'tool-input', id: call.id, name: call.name, delta })
  }

  /** Returns the arguments streamed so far for a tool call. */
  inputOf(key: Key): string {
    return this.#open.get(key)?.text ?? ''
  }

  /** Ends a tool call that `startCall` began. @param input the arguments; default: those that were streamed. */
  endCall(key: Key, data?: JsonObject, input: unknown = this.inputOf(key)): void {
    const call = this.#open.get(key)
    this.#open.delete(key)
    if (call !== undefined) this.#addCall(call.id, call.name, input, data)
  }

  /** Ends all tool calls that are still open. */
  endCalls(): void {
    for (const key of this.#open.keys()) this.endCall(key)
  }

  /** Adds a tool call that arrived whole. */
  call(id: string, name: string, input: unknown, data?: JsonObject): void {
    this.#addCall(this.#uniqueId(id), this.context.names.back(name), input, data)
  }

  /** Adds data that only the provider understands, and that it wants back unchanged. @param kind such as `tool-call:web_search`. */
  opaque(kind: string, data: JsonObject): void {
    this.#closeThinking()
    this.#parts.push({ type: 'opaque', kind, providerData: { ...data, cria: { model: this.context.ref } } })
  }

  /** Adds a part with the id and model of the response, unless both are unchanged. */
  response(id: unknown, model: unknown): void {
    const isNew = (value: unknown, known: string | undefined): value is string =>
      typeof value === 'string' && value !== '' && value !== known
    const news = {
      ...(isNew(id, this.#response.id) ? { id } : {}),
      ...(isNew(model, this.#response.model) ? { model } : {}),
    }
    if (Object.keys(news).length === 0) return
    this.#response = { ...this.#response, ...news }
    this.#parts.push({ type: 'response', ...news })
  }

  /** Merges a usage report: its counts replace earlier ones, and counts that it omits stay. */
  usage(raw: unknown): void {
    const known = Object.entries(asObject(raw) ?? {}).filter(([, value]) => value !== null && value !== undefined)
    if (known.length === 0) return
    this.#rawUsage = { ...this.#rawUsage, ...Object.fromEntries(known) }
    this.#usageChanged = true
  }

  /** Discards everything so far, because the provider restarts its answer. */
  restart(): void {
    this.#parts.push({ type: 'restart' })
    this.#response = {}
    this.#rawUsage = undefined
    this.#usageChanged = false
    this.#thinking = undefined
    this.#open.clear()
    this.#thinkTags = this.context.thinkTags ? new ThinkTags() : undefined
    this.calls = 0
    this.rawReason = undefined
    this.complete = false
    this.refused = false
  }

  /** Closes open parts. @returns the finish reason; `interrupted` when the provider sent none and the stream had no end mark. */
  end(): FinishReason | 'interrupted' {
    const reason = this.#endReason()
    this.#addPieces(this.#thinkTags?.end(reason === 'stop') ?? [])
    this.#closeThinking()
    return reason
  }

  #endReason(): FinishReason | 'interrupted' {
    if (this.rawReason === '') this.rawReason = undefined
    const isSaid = this.rawReason !== undefined || this.reason !== undefined
    if (!isSaid && !this.isWhole && !this.ended) return 'interrupted'
    // The answer is complete but has no finish reason: the API's end mark arrived, or the answer was not streamed.
    const unsaid = this.calls > 0 ? 'tool-calls' : 'other'
    const reason = isSaid ? finishReasonOf(this.rawReason, this.calls, this.reason) : unsaid
    return this.refused && (reason === 'stop' || reason === 'other') ? 'content-filter' : reason
  }

  finish(reason: FinishReason): void {
    this.#parts.push(this.#usagePart())
    this.#parts.push({ type: 'finish', reason, ...(this.rawReason === undefined ? {} : { rawReason: this.rawReason }) })
  }

  #usagePart(): ModelPart {
    this.#usageChanged = false
    return { type: 'usage', usage: this.#rawUsage === undefined ? UNKNOWN_USAGE : this.#readUsage(this.#rawUsage) }
  }

  #closeThinking(): void {
    if (this.#thinking !== undefined) this.endThinking(this.#thinking.key)
  }

  #addCall(id: string, name: string, input: unknown, data: JsonObject | undefined): void {
    this.#closeThinking()
    this.calls++
    this.#parts.push({ type: 'tool-call', id, name, ...argumentsOf(input), ...this.#own(data) })
  }

  /** Marks the data that the provider wants back with the model that made it. */
  #own(data: JsonObject | undefined): { readonly providerData?: ProviderData } {
    const providerData = toProviderData(data, this.context.ref)
    return providerData === undefined ? {} : { providerData }
  }

  /** Returns the id if it is free, else a new one: providers refuse duplicate ids, yet some send none, or the same ones in every answer. */
  #uniqueId(id: string): string {
    const { takenIds, createId } = this.context
    const free = id !== '' && !takenIds.has(id) ? id : createId()
    takenIds.add(free)
    return free
  }

  #addPieces(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'thinking-end') this.#parts.push(piece)
      else this.#append(piece.type, piece.text)
    }
  }

  #append(type: Kind, text: string): void {
    // `take()` has not returned this part yet, so it can be changed in place.
    if (this.#growing?.type === type && this.#growing === this.#parts.at(-1)) this.#growing.text += text
    else this.#parts.push((this.#growing = { type, text }))
    this.hasContent = true
  }
}

/** Limit on the nesting of arguments: code that checks, copies or writes JSON recurses once per level. */
const MOST_LEVELS = 500

/** Parses the arguments of a tool call; an empty text means `{}`. */
function argumentsOf(given: unknown): { readonly input: Json; readonly invalid?: string } {
  if (typeof given === 'string' && given.trim() === '') return { input: {} }
  try {
    const input = (typeof given === 'string' ? (JSON.parse(given) as Json) : (given as Json | undefined)) ?? {}
    if (!isDeeperThan(input, MOST_LEVELS)) return { input }
    return { input: typeof given === 'string' ? given : {}, invalid: `More than ${MOST_LEVELS} levels of nesting` }
  } catch (error) {
    return {
      input: given as Json,
      invalid: `The arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

/** Returns whether lists and objects are nested deeper than `most` levels; does not recurse. */
function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : []))
    if (level.length === 0) return false
  }
  return true
}

/** The finish reasons of all APIs, in lower case; gateways pass those of one API through another. */
const WORDS = {
  stop: 'stop end_turn stop_sequence pause_turn completed',
  'tool-calls': 'tool_calls tool-calls tool_use function_call',
  // A full context window cuts the answer.
  length: 'length max_tokens max_output_tokens model_context_window_exceeded',
  // From `safety` on they are Google's.
  'content-filter': `content_filter content-filter refusal safety recitation blocklist prohibited_content spii image_safety model_armor
    language image_prohibited_content image_recitation`,
  // OpenRouter; Google, for a tool call that is malformed or was not offered; Responses that did not end.
  error: `error malformed_function_call unexpected_tool_call too_many_tool_calls malformed_response missing_thought_signature
    failed cancelled in_progress queued`,
} as const satisfies Partial<Record<FinishReason, string>>
const REASONS = ['stop', 'tool-calls', 'length', 'content-filter', 'error'] as const

/**
 * @param calls number of tool calls in the answer: some APIs have no finish reason for them.
 * @param unified the reason of an AI SDK model; `rawReason` replaces it where it is only `stop`, `other` or `error`.
 */
function finishReasonOf(rawReason: string | undefined, calls: number, unified?: FinishReason): FinishReason {
  const word = rawReason?.toLowerCase() ?? ''
  const reason = REASONS.find((name) => WORDS[name].split(/\s+/).includes(word))
  if (unified !== undefined) return ['stop', 'other', 'error'].includes(unified) ? (reason ?? unified) : unified
  // Gemini and Responses send the same reason with and without tool calls.
  return calls > 0 && (rawReason === 'STOP' || rawReason === 'completed') ? 'tool-calls' : (reason ?? 'other')
}
