/**
 * The parts of one answer, put together by a decoder. Text that arrives together becomes one part; blocks of thinking are closed, ids of calls made unique,
 * and halves of a surrogate pair joined, whatever the API.
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
  /** Ids of tool calls that are taken: those of the conversation, and then those of this answer. */
  readonly takenIds: Set<string>
  readonly createId: () => string
  /** Text that begins with `<think>` is split into thinking and text. */
  readonly thinkTags: boolean
}

interface Call {
  readonly id: string
  readonly name: string
  text: string
}

/** By which a decoder knows a block of thinking, or a call. */
type Key = number | string
type Kind = 'text' | 'thinking'

export class Answer {
  /** The provider has begun to answer. */
  hasBegun = false
  /** The answer came, or is to come, in one piece: its end is certain. */
  isWhole = false
  /** The API's own mark for "this was all" has come: what follows is not part of the answer. */
  ended = false
  /** The provider has said how the answer ended: a connection that breaks now does no harm. */
  complete = false
  /** The provider's word for how the answer ended. */
  rawReason: string | undefined
  /** The reason that an AI SDK model makes of that word. */
  reason: FinishReason | undefined
  /** A part of the answer is a refusal. */
  refused = false
  /** Something of it has come that a reader can be shown. */
  hasContent = false
  /** Calls that the caller has to run. */
  calls = 0
  readonly context: AnswerContext
  #parts: ModelPart[] = []
  /** The part that text is added to until it is taken. */
  #growing: { type: Kind; text: string } | undefined
  readonly #readUsage: ReadUsage
  #rawUsage: JsonObject | undefined
  #usageChanged = false
  #thinkTags: ThinkTags | undefined
  /** The block of thinking that is open, and what its provider wants back with it. */
  #thinking: { readonly key: Key; data: JsonObject | undefined } | undefined
  readonly #open = new Map<Key, Call>()
  #response: { readonly id?: string; readonly model?: string } = {}
  /** The first half of a surrogate pair whose second half has not come. */
  #half = ''
  #halfOf: Kind = 'text'

  constructor(context: AnswerContext, readUsage: ReadUsage) {
    this.context = context
    this.#readUsage = readUsage
    this.#thinkTags = context.thinkTags ? new ThinkTags() : undefined
  }

  /** Returns what has come since this was last asked. */
  take(): readonly ModelPart[] {
    const parts = this.#usageChanged ? [this.#usagePart(), ...this.#parts] : this.#parts
    this.#parts = []
    return parts
  }

  /** Returns what is left of an answer that broke off, with what was held back of it. */
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

  /** Ends a text with what the provider wants back with it. */
  endText(data: JsonObject | undefined): void {
    const own = this.#own(data)
    if (own.providerData !== undefined) this.#push({ type: 'text', text: '', ...own })
  }

  /** @param data what the provider wants back with this block of thinking, added to what it said before. */
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

  /** Begins a call whose arguments are streamed. */
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

  /** The arguments that have been streamed for a call. */
  inputOf(key: Key): string {
    return this.#open.get(key)?.text ?? ''
  }

  /** Ends a call that was begun, with its arguments as they were streamed, or as they are given. */
  endCall(key: Key, data?: JsonObject, input: unknown = this.inputOf(key)): void {
    const call = this.#open.get(key)
    this.#open.delete(key)
    if (call !== undefined) this.#addCall(call.id, call.name, input, data)
  }

  /** Ends the calls that nothing else has ended. */
  endCalls(): void {
    for (const key of this.#open.keys()) this.endCall(key)
  }

  /** A whole call. */
  call(id: string, name: string, input: unknown, data?: JsonObject): void {
    this.#addCall(this.#uniqueId(id), this.context.names.back(name), input, data)
  }

  /** Something that only the provider understands and wants back as it came. @param kind `tool-call:web_search`. */
  opaque(kind: string, data: JsonObject): void {
    this.#closeThinking()
    this.#push({ type: 'opaque', kind, providerData: { ...data, cria: { model: this.context.ref } } })
  }

  /** Says who answers; said once, unless it changes. */
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

  /** Later counts replace earlier ones; what a later report leaves out stays. */
  usage(raw: unknown): void {
    const known = Object.entries(asObject(raw) ?? {}).filter(([, value]) => value !== null && value !== undefined)
    if (known.length === 0) return
    this.#rawUsage = { ...this.#rawUsage, ...Object.fromEntries(known) }
    this.#usageChanged = true
  }

  /** The provider begins its answer anew: what came before is void. */
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

  /** Closes what is open. @returns how the answer ended; `interrupted`: nobody said how. */
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
    // A proper end without a reason: the API's end mark came, or the whole of the answer.
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

  /** Marks what the provider wants back with a part with the model. */
  #own(data: JsonObject | undefined): { readonly providerData?: ProviderData } {
    const providerData = toProviderData(data, this.context.ref)
    return providerData === undefined ? {} : { providerData }
  }

  /** Providers refuse two calls of one id, and some give none, or the same ones in every answer. */
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

  /** Holds the first half of a surrogate pair at the end of a text back until its second half comes, or something else. */
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
    // A part that has not been taken yet is nobody else's: it grows in place.
    if (this.#growing?.type === type && this.#growing === this.#parts.at(-1)) this.#growing.text += text
    else this.#parts.push((this.#growing = { type, text }))
    this.hasContent = true
  }
}

/** Levels of arguments at most: whatever reads, checks, copies and writes JSON uses up the call stack level by level. */
const MOST_LEVELS = 500

/** No arguments at all mean none are needed. */
function argumentsOf(given: unknown): { readonly input: Json; readonly invalid?: string } {
  if (typeof given === 'string' && given.trim() === '') return { input: {} }
  try {
    const input = (typeof given === 'string' ? (JSON.parse(given) as Json) : (given as Json | undefined)) ?? {}
    if (!isDeeperThan(input, MOST_LEVELS)) return { input }
    return { input: typeof given === 'string' ? given : {}, invalid: `More than ${MOST_LEVELS} levels within one another` }
  } catch (error) {
    return {
      input: given as Json,
      invalid: `The arguments are no JSON: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

/** Tells whether lists and objects are nested deeper than `most` levels. However deep they are, no call stack is used up. */
function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : []))
    if (level.length === 0) return false
  }
  return true
}
