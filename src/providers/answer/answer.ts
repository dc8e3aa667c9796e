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
import { finishReasonOf } from './finish.ts'
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
  /** The first half of a surrogate pair whose second half has not arrived. */
  #half = ''
  #halfOf: Kind = 'text'

  constructor(context: AnswerContext, readUsage: ReadUsage) {
    this.context = context
    this.#readUsage = readUsage
    this.#thinkTags = context.thinkTags ? new ThinkTags() : undefined
  }

  /** Returns the parts that were added since the last call. */
  take(): readonly ModelPart[] {
    const parts = this.#usageChanged ? [this.#usagePart(), ...this.#parts] : this.#parts
    this.#parts = []
    return parts
  }

  /** Returns the remaining parts of an answer that broke off, including text that was held back. */
  takeLast(): readonly ModelPart[] {
    this.#flushHalf()
    this.#addPieces(this.#thinkTags?.end(false) ?? [])
    return this.take()
  }

  text(text: string): void {
    if (text === '') return
    this.#closeThinking()
    this.#write('text', text)
  }

  /** Ends a text part. @param data sent back to the provider with the text. */
  endText(data: JsonObject | undefined): void {
    const own = this.#own(data)
    if (own.providerData !== undefined) this.#push({ type: 'text', text: '', ...own })
  }

  /** Adds text to a block of thinking. @param data sent back to the provider with the block; merged with earlier data of the block. */
  think(key: Key, text: string, data?: JsonObject): void {
    if (this.#thinking?.key !== key) this.#closeThinking()
    if (text === '' && data === undefined) return
    this.#thinking ??= { key, data: undefined }
    if (data !== undefined) this.#thinking.data = mergeMetadata(this.#thinking.data, data)
    if (text !== '') this.#write('thinking', text)
  }

  endThinking(key: Key, data?: JsonObject): void {
    const open = this.#thinking?.key === key ? this.#thinking : undefined
    const own = this.#own(mergeMetadata(open?.data, data))
    if (open === undefined && own.providerData === undefined) return
    if (open !== undefined) this.#thinking = undefined
    this.#push({ type: 'thinking-end', ...own })
  }

  /** Begins a tool call whose arguments are streamed. */
  startCall(key: Key, id: string, name: string): void {
    const call: Call = { id: this.#uniqueId(id), name: this.context.names.back(name), text: '' }
    this.#open.set(key, call)
    this.#push({ type: 'tool-input', id: call.id, name: call.name, delta: '' })
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
    else this.#push({ type: 'tool-input', id: call.id, name: call.name, delta })
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
    this.#push({ type: 'opaque', kind, providerData: { ...data, cria: { model: this.context.ref } } })
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
    this.#push({ type: 'response', ...news })
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
    this.#half = ''
    this.#open.clear()
    this.#thinkTags = this.context.thinkTags ? new ThinkTags() : undefined
    this.calls = 0
    this.rawReason = undefined
    this.complete = false
    this.refused = false
  }

  /** Closes open parts. @returns the finish reason; `interrupted` when the provider sent none and the stream had no end mark. */
  end(): FinishReason | 'interrupted' {
    this.#flushHalf()
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
    this.#push(this.#usagePart())
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
    this.#push({ type: 'tool-call', id, name, ...argumentsOf(input), ...this.#own(data) })
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

  #push(part: ModelPart): void {
    this.#flushHalf()
    this.#parts.push(part)
  }

  /** Adds text, but holds back half a surrogate pair at its end until the second half, or another part, arrives. */
  #write(kind: Kind, text: string): void {
    if (this.#halfOf !== kind) this.#flushHalf()
    const joined = this.#half + text
    const last = joined.charCodeAt(joined.length - 1)
    const endsInHalf = last >= 0xd800 && last <= 0xdbff
    this.#halfOf = kind
    this.#half = endsInHalf ? joined.slice(-1) : ''
    this.#addText(kind, endsInHalf ? joined.slice(0, -1) : joined)
  }

  #flushHalf(): void {
    const half = this.#half
    this.#half = ''
    if (half !== '') this.#addText(this.#halfOf, half)
  }

  #addText(kind: Kind, text: string): void {
    if (text === '') return
    if (kind === 'text' && this.#thinkTags !== undefined) this.#addPieces(this.#thinkTags.push(text))
    else this.#append(kind, text)
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
