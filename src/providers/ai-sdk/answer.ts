/** One answer on its way: from what the package streams, or gives back in one piece, to our parts. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ModelPart } from '../../core/model.ts'
import type { Span } from '../../core/span.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import type { Shape, WireCall } from '../wire/call.ts'
import { OtherShape } from '../wire/call.ts'
import { asArray, asObject, asString, saysNothing } from '../wire/dialect.ts'
import { causes } from '../wire/network.ts'
import { short } from './errors.ts'
import { endingOf } from './finish.ts'
import { isBesideTheAnswer } from './gaps/unknown-events.ts'
import { contentOf } from './parts.ts'
import type { PartDecoder } from './parts.ts'
import { usageOf, usageOfSdk } from './usage.ts'

/** What one call needs of its provider. */
export interface OpenedCall {
  readonly model: LanguageModelV4
  /** Absent for models whose `fetch` is not ours. */
  readonly wire?: WireCall
}

export interface AnswerOptions {
  readonly call: OpenedCall
  readonly options: LanguageModelV4CallOptions
  /** How the answer is asked for; it may come in the other shape. */
  readonly shape: Shape
  /** Made anew when the answer begins anew. */
  readonly decoder: () => PartDecoder
  /** Named in errors. */
  readonly provider: string
  readonly span: Span
}

type Parts = readonly ModelPart[]
const NOTHING: Parts = []

/**
 * Pulled, and not a generator: a part passes here for every few letters, and each generator between the socket and the reader would cost as much as
 * decoding does.
 */
export class Answer {
  /** The provider has begun to answer. */
  begun = false
  readonly #with: AnswerOptions
  #decoder: PartDecoder
  #reader: ReadableStreamDefaultReader<JsonObject> | undefined
  #finish: JsonObject | undefined
  #over = false
  /** The usage that was passed on. */
  #reported: JsonObject | undefined

  constructor(options: AnswerOptions) {
    this.#with = options
    this.#decoder = options.decoder()
  }

  /** The next parts, perhaps none; `undefined` when the answer is complete. */
  async next(): Promise<Parts | undefined> {
    if (this.#over) return undefined
    if (this.#reader === undefined) return this.#begin(this.#with.shape)
    const { done, value } = await this.#reader.read()
    if (done) return this.#end()
    // On our own wire the rest is read, so that the connection can be used again.
    if (this.#finish !== undefined) return this.#with.call.wire === undefined ? this.#end() : NOTHING
    const parts = this.#read(value)
    const usage = this.unreportedUsage()
    return usage === undefined ? parts : [{ type: 'usage', usage }, ...parts]
  }

  /** What the provider said it cost so far, if that was not passed on yet. */
  unreportedUsage(): Usage | undefined {
    const raw = this.#with.call.wire?.notes.usage
    if (raw === this.#reported) return undefined
    this.#reported = raw
    return usageOf(raw)
  }

  /** Lets go of the stream, finished or not. */
  close(): void {
    void this.#reader?.cancel().catch(() => {})
    this.#with.call.wire?.close()
  }

  async #begin(shape: Shape): Promise<Parts> {
    const { call, options } = this.#with
    if (call.wire !== undefined) call.wire.shape = shape
    try {
      if (shape === 'whole') return this.#whole(await generate(call, options))
      const { stream } = await call.model.doStream(options)
      this.begun = true
      this.#reader = (stream as ReadableStream<JsonObject>).getReader()
      return NOTHING
    } catch (thrown) {
      const other = [...causes(thrown)].find((error) => error instanceof OtherShape)
      if (other === undefined) throw thrown
      return this.#begin(other.shape)
    }
  }

  #whole(result: Awaited<ReturnType<LanguageModelV4['doGenerate']>>): Parts {
    this.begun = true
    this.#over = true
    this.#warn(result.warnings)
    const content = contentOf(result).flatMap((part) => this.#decoder.decode(part))
    return [...responseOf(asObject(result.response)), ...content, ...this.#ending(asObject(result), true)]
  }

  #read(value: JsonObject): Parts {
    switch (value['type']) {
      case 'stream-start':
        this.#warn(value['warnings'])
        return NOTHING
      case 'response-metadata':
        return responseOf(value)
      case 'error':
        if (!this.#isPassable(value['error'])) throw asError(value['error'])
        return NOTHING
      case 'finish':
        this.#finish = value
        return NOTHING
      default:
        return this.#decoder.decode(value)
    }
  }

  /** The stream has ended: the answer has too, or it begins anew. */
  async #end(): Promise<Parts> {
    this.#with.call.wire?.throwIfBroken()
    if (this.#with.call.wire?.tryRestart() !== true) {
      this.#over = true
      return this.#ending(this.#finish, false)
    }
    this.#finish = undefined
    this.#decoder = this.#with.decoder()
    return [{ type: 'restart' }, ...(await this.#begin('stream'))]
  }

  /** Errors of a package that are none of the provider's. */
  #isPassable(error: unknown): boolean {
    if (error === undefined || error === null) return true
    const { name, value, text, message } = error as { name?: unknown; value?: unknown; text?: unknown; message?: string }
    if (name === 'AI_TypeValidationError') return isBesideTheAnswer(value)
    if (name === 'AI_JSONParseError') return typeof text === 'string' && saysNothing(text)
    // The provider ended its stream properly and gave no reason (seen with [DONE]).
    const isAboutReason = name === 'AI_InvalidResponseDataError' && /finish reason/.test(message ?? '')
    if (isAboutReason && this.#with.call.wire?.notes.ended !== true) {
      this.#with.call.wire?.throwIfBroken()
      throw this.#interrupted()
    }
    return isAboutReason
  }

  #ending(finish: JsonObject | undefined, whole: boolean): Parts {
    const { call, provider } = this.#with
    const notes = call.wire?.notes
    const { reason, rawReason } = endingOf(finish?.['finishReason'], notes, this.#decoder.calls, whole)
    if (reason === 'interrupted') throw this.#interrupted()
    if (reason === 'error') {
      throw new CriaError('invalid_response', `${provider} gave up the answer (${rawReason ?? 'error'}).`, {
        hint: 'The model wrote something that its provider could not read; ask again.',
      })
    }
    if (reason === 'tool-calls' && this.#decoder.calls === 0) {
      throw new CriaError('invalid_response', `${provider} ended its answer with tool calls and made none.`)
    }
    this.#reported = notes?.usage
    // What the package says has zeros where nothing was sent.
    const usage = usageOf(notes?.usage) ?? (notes === undefined ? usageOfSdk(finish?.['usage']) : UNKNOWN_USAGE)
    return [
      ...(notes?.model === undefined ? NOTHING : [{ type: 'response', model: notes.model } as const]),
      { type: 'usage', usage },
      { type: 'finish', reason, ...(rawReason === undefined ? {} : { rawReason }) },
    ]
  }

  #interrupted(): CriaError {
    return new CriaError('stream_interrupted', `${this.#with.provider}: the stream ended before the answer did.`)
  }

  /** What the package could not send as asked. */
  #warn(warnings: unknown): void {
    for (const warning of asArray(warnings)) {
      const said = asObject(warning)
      if (said === undefined) continue
      const words =
        asString(said['details']) ?? asString(said['message']) ?? asString(said['feature']) ?? asString(said['setting']) ?? ''
      this.#with.span.event('provider_warning', { kind: asString(said['type']) ?? 'other', message: short(words) })
    }
  }
}

function responseOf(metadata: JsonObject | undefined): Parts {
  const id = asString(metadata?.['id'])
  const model = asString(metadata?.['modelId'])
  if ((id ?? '') === '' && (model ?? '') === '') return NOTHING
  return [{ type: 'response', ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) }]
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new StreamedError(value)
}

/** An error that came as a part of the stream, in whatever shape. */
class StreamedError extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super('The provider reported an error in the stream.')
    this.name = 'StreamedError'
    this.value = value
  }
}

/** The package may refuse an answer for something beside it; then it is asked with the essence of the answer. */
async function generate(
  { model, wire }: OpenedCall,
  options: LanguageModelV4CallOptions,
): Promise<Awaited<ReturnType<LanguageModelV4['doGenerate']>>> {
  try {
    return await model.doGenerate(options)
  } catch (thrown) {
    const refused = [...causes(thrown)].some((error) => error.name === 'AI_TypeValidationError')
    if (!refused || wire?.tryEssence() !== true) throw thrown
    return await model.doGenerate(options)
  }
}
