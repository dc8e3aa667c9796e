/** One answer on its way: from what the package streams, or gives back in one piece, to our parts. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ModelCall, ModelPart } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import type { WireCall } from '../wire/call.ts'
import { OtherShape } from '../wire/call.ts'
import { asArray, asObject, asString } from '../wire/dialect.ts'
import { causes } from '../wire/network.ts'
import type { ErrorContext } from './errors.ts'
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

export class Answer {
  /** The provider has begun to answer. */
  begun = false
  readonly #call: OpenedCall
  readonly #ctx: ModelCall
  readonly #errors: ErrorContext
  #reported: JsonObject | undefined

  constructor(call: OpenedCall, ctx: ModelCall, errors: ErrorContext) {
    this.#call = call
    this.#ctx = ctx
    this.#errors = errors
  }

  async *parts(
    options: LanguageModelV4CallOptions,
    shape: 'stream' | 'whole',
    decoder: () => PartDecoder,
  ): AsyncGenerator<ModelPart, void, undefined> {
    for (let current = shape; ;) {
      try {
        if (current === 'whole') {
          yield* this.#whole(options, decoder())
          return
        }
        do {
          if (this.begun) yield { type: 'restart' }
          yield* this.#streamed(options, decoder())
        } while (this.#call.wire?.tryRestart() === true)
        return
      } catch (thrown) {
        const other = [...causes(thrown)].find((error) => error instanceof OtherShape)
        if (other === undefined) throw thrown
        current = other.shape
      }
    }
  }

  /** What the provider said it cost so far, if that was not passed on yet. */
  unreportedUsage(): Usage | undefined {
    const raw = this.#call.wire?.notes.usage
    if (raw === this.#reported) return undefined
    this.#reported = raw
    return usageOf(raw)
  }

  async *#whole(options: LanguageModelV4CallOptions, decoder: PartDecoder): AsyncGenerator<ModelPart, void, undefined> {
    const { model, wire } = this.#call
    if (wire !== undefined) wire.shape = 'whole'
    const result = await generate(model, options, wire)
    this.begun = true
    this.#warn(result.warnings)
    yield* this.#response(asObject(result.response))
    for (const part of contentOf(result)) yield* decoder.decode(part)
    yield* this.#finish(asObject(result), decoder, true)
  }

  async *#streamed(options: LanguageModelV4CallOptions, decoder: PartDecoder): AsyncGenerator<ModelPart, void, undefined> {
    const { model, wire } = this.#call
    if (wire !== undefined) wire.shape = 'stream'
    const { stream } = await model.doStream(options)
    this.begun = true
    const reader = (stream as ReadableStream<JsonObject>).getReader()
    let finish: JsonObject | undefined
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        // On our own wire the rest is read, so that the connection can be used again.
        if (finish !== undefined && wire === undefined) break
        if (finish !== undefined) continue
        const early = this.unreportedUsage()
        if (early !== undefined) yield { type: 'usage', usage: early }
        switch (value['type']) {
          case 'stream-start':
            this.#warn(value['warnings'])
            break
          case 'response-metadata':
            yield* this.#response(value)
            break
          case 'error':
            if (!this.#isPassable(value['error'])) throw asError(value['error'])
            break
          case 'finish':
            finish = value
            break
          default:
            yield* decoder.decode(value)
        }
      }
      if (wire?.restarts !== true) yield* this.#finish(finish, decoder, false)
    } finally {
      void reader.cancel().catch(() => {})
    }
  }

  #interrupted(): CriaError {
    return new CriaError('stream_interrupted', `${this.#errors.provider}: the stream ended before the answer did.`)
  }

  /** Errors of a package that are none of the provider's. */
  #isPassable(error: unknown): boolean {
    if (error === undefined || error === null) return true
    const { name, value, message } = error as { name?: unknown; value?: unknown; message?: string }
    if (name === 'AI_TypeValidationError') return isBesideTheAnswer(value)
    // The provider ended its stream properly and gave no reason (seen with [DONE]).
    const isAboutReason = name === 'AI_InvalidResponseDataError' && /finish reason/.test(message ?? '')
    if (isAboutReason && this.#call.wire?.notes.ended !== true) throw this.#interrupted()
    return isAboutReason
  }

  *#finish(finish: JsonObject | undefined, decoder: PartDecoder, whole: boolean): Generator<ModelPart, void, undefined> {
    const { provider } = this.#errors
    const notes = this.#call.wire?.notes
    const { reason, rawReason } = endingOf(finish?.['finishReason'], notes, decoder.calls, whole)
    const reported = usageOf(notes?.usage)
    this.#reported = notes?.usage
    if (notes?.model !== undefined) yield { type: 'response', model: notes.model }
    if (reason === 'interrupted') {
      if (reported !== undefined) yield { type: 'usage', usage: reported }
      throw this.#interrupted()
    }
    // What the package says has zeros where nothing was sent.
    yield { type: 'usage', usage: reported ?? (notes === undefined ? usageOfSdk(finish?.['usage']) : UNKNOWN_USAGE) }
    if (reason === 'error') {
      throw new CriaError('invalid_response', `${provider} gave up the answer (${rawReason ?? 'error'}).`, {
        hint: 'The model wrote something that its provider could not read; ask again.',
      })
    }
    if (reason === 'tool-calls' && decoder.calls === 0) {
      throw new CriaError('invalid_response', `${provider} ended its answer with tool calls and made none.`)
    }
    yield { type: 'finish', reason, ...(rawReason === undefined ? {} : { rawReason }) }
  }

  *#response(metadata: JsonObject | undefined): Generator<ModelPart, void, undefined> {
    const id = asString(metadata?.['id'])
    const model = asString(metadata?.['modelId'])
    if ((id ?? '') === '' && (model ?? '') === '') return
    yield { type: 'response', ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) }
  }

  /** What the package could not send as asked. */
  #warn(warnings: unknown): void {
    for (const warning of asArray(warnings)) {
      const said = asObject(warning)
      if (said === undefined) continue
      const words =
        asString(said['details']) ?? asString(said['message']) ?? asString(said['feature']) ?? asString(said['setting']) ?? ''
      this.#ctx.span.event('provider_warning', { kind: asString(said['type']) ?? 'other', message: short(words) })
    }
  }
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
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  wire: WireCall | undefined,
): Promise<Awaited<ReturnType<LanguageModelV4['doGenerate']>>> {
  try {
    return await model.doGenerate(options)
  } catch (thrown) {
    const refused = [...causes(thrown)].some((error) => error.name === 'AI_TypeValidationError')
    if (!refused || wire?.tryEssence() !== true) throw thrown
    return await model.doGenerate(options)
  }
}
