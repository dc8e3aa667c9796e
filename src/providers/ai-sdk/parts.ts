/** Decodes what an AI SDK model streams, or gives back in one piece, into our parts. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ModelPart } from '../../core/model.ts'
import { isDeeperThan } from '../../util/nesting.ts'
import { asArray, asObject, asString } from '../wire/dialect.ts'
import { mergeMetadata, toProviderData } from './own-data.ts'
import type { ToolNames } from './tool-names.ts'

export interface DecodeContext {
  /** `provider/model` that answers. */
  readonly ref: string
  readonly names: ToolNames
  /** Ids of tool calls that are taken: those of the conversation, and then those of this answer. */
  readonly takenIds: Set<string>
  readonly createId: () => string
}

/** A part or a piece of content as the AI SDK's versions 2 to 4 have it; read loosely, since versions and packages differ. */
type SdkPart = JsonObject

const NOTHING: readonly ModelPart[] = []

/** Turns one part into none or several; keeps what belongs to a block until the block ends. */
export class PartDecoder {
  /** Calls that the caller has to run. */
  calls = 0
  /** Some text, thinking or call was decoded. */
  hasContent = false
  readonly #context: DecodeContext
  readonly #blocks = new Map<string, JsonObject | undefined>()
  readonly #calls = new Map<string, { readonly id: string; readonly name: string }>()
  /** The block of thinking that is being streamed. */
  #thinking: string | undefined

  constructor(context: DecodeContext) {
    this.#context = context
  }

  /** Parts that say something about the answer as a whole (`finish`, `error`, …) are not decoded here. */
  decode(part: SdkPart): readonly ModelPart[] {
    const id = asString(part['id']) ?? ''
    switch (part['type']) {
      case 'text-delta':
        if (this.#thinking !== undefined) return [...this.#endThinking(), ...this.#text(id, part, asString(part['delta']) ?? '')]
        return this.#text(id, part, asString(part['delta']) ?? '')
      case 'text-start':
        return this.#note(`text ${id}`, part)
      case 'text-end':
        this.#note(`text ${id}`, part)
        return this.#endText(id)
      case 'text':
        return [...this.#text(id, part, asString(part['text']) ?? ''), ...this.#endText(id)]
      case 'reasoning-start':
        return this.#note(`thinking ${id}`, part)
      case 'reasoning-delta':
        return this.#think(id, part, asString(part['delta']) ?? '')
      case 'reasoning-end':
        this.#note(`thinking ${id}`, part)
        return this.#endThinkingBlock(id)
      case 'reasoning':
        return [...this.#think(id, part, asString(part['text']) ?? ''), ...this.#endThinkingBlock(id)]
      case 'tool-input-start':
        return part['providerExecuted'] === true ? [] : this.#startCall(id, asString(part['toolName']) ?? '')
      case 'tool-input-delta': {
        const call = this.#calls.get(id)
        const delta = asString(part['delta']) ?? ''
        return call === undefined || delta === '' ? NOTHING : [{ type: 'tool-input', ...call, delta }]
      }
      case 'tool-call':
        return [...this.#endThinking(), part['providerExecuted'] === true ? this.#opaque(part) : this.#call(part)]
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
        return [this.#opaque(part)]
      case 'custom':
        // Anthropic's package reports the head of the message this way; it is no part of the answer.
        return part['kind'] === 'anthropic.message_start' ? [] : [this.#opaque(part)]
      default:
        return NOTHING
    }
  }

  #note(block: string, part: SdkPart): readonly ModelPart[] {
    this.#blocks.set(block, mergeMetadata(this.#blocks.get(block), part['providerMetadata']))
    return NOTHING
  }

  #text(id: string, part: SdkPart, text: string): readonly ModelPart[] {
    if (part['providerMetadata'] !== undefined) this.#note(`text ${id}`, part)
    if (text === '') return NOTHING
    this.hasContent = true
    return [{ type: 'text', text }]
  }

  #endText(id: string): readonly ModelPart[] {
    const providerData = toProviderData(this.#blocks.get(`text ${id}`), this.#context.ref)
    this.#blocks.delete(`text ${id}`)
    return providerData === undefined ? [] : [{ type: 'text', text: '', providerData }]
  }

  #think(id: string, part: SdkPart, text: string): readonly ModelPart[] {
    if (part['providerMetadata'] !== undefined) this.#note(`thinking ${id}`, part)
    if (text === '') return NOTHING
    this.hasContent = true
    if (this.#thinking === id) return [{ type: 'thinking', text }]
    const ended = this.#endThinking()
    this.#thinking = id
    return [...ended, { type: 'thinking', text }]
  }

  #endThinkingBlock(id: string): readonly ModelPart[] {
    const block = `thinking ${id}`
    const providerData = toProviderData(this.#blocks.get(block), this.#context.ref)
    const wasOpen = this.#thinking === id
    this.#blocks.delete(block)
    if (wasOpen) this.#thinking = undefined
    if (providerData === undefined) return wasOpen ? [{ type: 'thinking-end' }] : []
    this.hasContent = true
    return [{ type: 'thinking-end', providerData }]
  }

  /** Text begins although the block of thinking was not ended: some servers end it after the answer. What came last for it is lost. */
  #endThinking(): readonly ModelPart[] {
    return this.#thinking === undefined ? [] : this.#endThinkingBlock(this.#thinking)
  }

  #startCall(sdkId: string, toolName: string): readonly ModelPart[] {
    const call = { id: this.#uniqueId(sdkId), name: this.#context.names.back(toolName) }
    this.#calls.set(sdkId, call)
    return [{ type: 'tool-input', ...call, delta: '' }]
  }

  #call(part: SdkPart): ModelPart {
    const sdkId = asString(part['toolCallId']) ?? ''
    const started = this.#calls.get(sdkId)
    this.#calls.delete(sdkId)
    const providerData = toProviderData(part['providerMetadata'], this.#context.ref)
    this.calls++
    this.hasContent = true
    return {
      type: 'tool-call',
      id: started?.id ?? this.#uniqueId(sdkId),
      name: this.#context.names.back(asString(part['toolName']) ?? ''),
      ...argumentsOf(part['input'] ?? part['args']),
      ...(providerData === undefined ? {} : { providerData }),
    }
  }

  /** Providers refuse two calls of one id, and some give none, or the same ones in every answer. */
  #uniqueId(id: string): string {
    const free = id !== '' && !this.#context.takenIds.has(id) ? id : this.#context.createId()
    this.#context.takenIds.add(free)
    return free
  }

  /** Goes back as it came, as a part of the prompt. */
  #opaque(part: SdkPart): ModelPart {
    const { type, providerMetadata, result, ...rest } = part
    const sort = asString(type) ?? 'part'
    const kind = asString(part['kind']) ?? asString(part['toolName'])
    const input = typeof part['input'] === 'string' ? { input: argumentsOf(part['input']).input } : {}
    const sent: JsonObject = {
      type,
      ...rest,
      ...input,
      ...(result === undefined ? {} : { output: { type: part['isError'] === true ? 'error-json' : 'json', value: result } }),
      ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
    }
    return {
      type: 'opaque',
      kind: kind === undefined ? sort : `${sort}:${kind}`,
      providerData: { part: plain(sent), cria: { model: this.#context.ref } },
    }
  }
}

/** Of arguments. Whatever reads, checks, copies and writes JSON uses up the call stack level by level. */
const MOST_LEVELS = 500

/** No arguments at all mean none are needed. */
function argumentsOf(given: unknown): { readonly input: Json; readonly invalid?: string } {
  if (typeof given !== 'string') return { input: (given ?? {}) as Json }
  if (given.trim() === '') return { input: {} }
  try {
    const input = JSON.parse(given) as Json
    if (isDeeperThan(input, MOST_LEVELS)) return { input: given, invalid: `More than ${MOST_LEVELS} levels within one another` }
    return { input: input ?? {} }
  } catch (error) {
    return { input: given, invalid: `The arguments are no JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** What JSON makes of it: bytes and URLs become strings. */
function plain(value: JsonObject): JsonObject {
  const text = JSON.stringify(value, (_, member: unknown) =>
    member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member,
  )
  return JSON.parse(text) as JsonObject
}

/** The content of an answer in one piece. */
export function contentOf(result: unknown): readonly JsonObject[] {
  return asArray(asObject(result)?.['content']) as readonly JsonObject[]
}
