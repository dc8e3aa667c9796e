/** The one adapter between our port to models and the AI SDK's: any AI SDK language model becomes one of ours. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { CriaError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../../core/model.ts'
import { UNKNOWN_FACTS } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { asArray, asObject, asString } from '../wire/dialect.ts'
import type { WireCall } from '../wire/call.ts'
import { OtherShape } from '../wire/call.ts'
import { causes } from '../wire/network.ts'
import type { ErrorContext } from './errors.ts'
import { short, toProviderError } from './errors.ts'
import { endingOf } from './finish.ts'
import { isBesideTheAnswer } from './gaps/unknown-events.ts'
import { contentOf, PartDecoder } from './parts.ts'
import { toCallOptions } from './request.ts'
import type { StyleName } from './style.ts'
import { STYLES } from './style.ts'
import { splitThinkTags } from './think-tags.ts'
import { ToolNames } from './tool-names.ts'
import { usageOf, usageOfSdk } from './usage.ts'

/** What one call needs of its provider. */
export interface OpenedCall {
  readonly model: LanguageModelV4
  /** Absent for models whose `fetch` is not ours. */
  readonly wire?: WireCall
}

export interface AdapterOptions {
  /** `provider/model`. */
  readonly ref: string
  readonly style: StyleName
  readonly facts?: () => ModelFacts
  /** Makes what one call needs; loads the package of the provider on first use. @throws CriaError when something is missing. */
  readonly open: (options: LanguageModelV4CallOptions) => Promise<OpenedCall>
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
  readonly errors: Omit<ErrorContext, 'ref'>
  /** Text that begins with `<think>` is split into thinking and text. */
  readonly thinkTags?: boolean
}

export function createAdapter(options: AdapterOptions): LanguageModel {
  let facts: ModelFacts | undefined
  return {
    ref: options.ref,
    get facts() {
      return (facts ??= options.facts?.() ?? UNKNOWN_FACTS)
    },
    stream(request, ctx) {
      const parts = run(options, request, ctx)
      return options.thinkTags === true ? splitThinkTags(parts) : parts
    },
  }
}

async function* run(options: AdapterOptions, request: ModelRequest, ctx: ModelCall): AsyncGenerator<ModelPart, void, undefined> {
  const errors: ErrorContext = { ...options.errors, ref: options.ref }
  const names = new ToolNames((request.tools ?? []).map((tool) => tool.name))
  let call: OpenedCall | undefined
  let progress: Progress | undefined
  try {
    ctx.signal.throwIfAborted()
    const callOptions = toCallOptions(request, {
      ref: options.ref,
      style: STYLES[options.style],
      names,
      signal: ctx.signal,
      providerOptions: options.providerOptions ?? {},
    })
    call = await options.open(callOptions)
    const takenIds = new Set(request.messages.flatMap((message) => (message.toolCalls ?? []).map(({ id }) => id)))
    const decoder = (): PartDecoder => new PartDecoder({ ref: options.ref, names, takenIds, createId: () => createId('call') })
    progress = new Progress(call, ctx, errors)
    yield* progress.answer(callOptions, request.stream ? 'stream' : 'whole', decoder)
  } catch (thrown) {
    if (ctx.signal.aborted) throw abortReason(ctx.signal, errors)
    // What was spent is not lost with the answer.
    const spent = progress?.unreportedUsage()
    if (spent !== undefined) yield { type: 'usage', usage: spent }
    throw toProviderError(thrown, errors, progress?.begun === true ? 'stream' : 'request', (data) => call?.wire?.numberOf(data))
  } finally {
    call?.wire?.close()
  }
}

function abortReason(signal: AbortSignal, errors: ErrorContext): CriaError {
  return signal.reason instanceof CriaError
    ? signal.reason
    : toProviderError(signal.reason ?? new DOMException('Aborted', 'AbortError'), errors, 'request')
}

/** One answer on its way. */
class Progress {
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

  async *answer(
    options: LanguageModelV4CallOptions,
    shape: 'stream' | 'whole',
    decoder: () => PartDecoder,
  ): AsyncGenerator<ModelPart, void, undefined> {
    for (let current = shape; ;) {
      try {
        if (current === 'whole') return yield* this.#whole(options, decoder())
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
    yield* this.#finish(asObject(result), decoder, 'whole')
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
            if (!this.#isPassable(value['error']))
              throw value['error'] instanceof Error ? value['error'] : new StreamedError(value['error'])
            break
          case 'finish':
            finish = value
            // On our own wire the rest is read, so that the connection can be used again.
            if (wire === undefined) return yield* this.#finish(finish, decoder, 'stream')
            break
          default:
            yield* decoder.decode(value)
        }
      }
      if (wire?.restarts === true) return
      yield* this.#finish(finish, decoder, 'stream')
    } finally {
      void reader.cancel().catch(() => {})
    }
  }

  /** Errors of a package that are none of the provider's. */
  #isPassable(error: unknown): boolean {
    if (error === undefined || error === null) return true
    const { name, value, message } = error as { name?: unknown; value?: unknown; message?: string }
    if (name === 'AI_TypeValidationError') return isBesideTheAnswer(value)
    // The provider ended its stream properly and gave no reason (seen with [DONE]).
    const isAboutReason = name === 'AI_InvalidResponseDataError' && /finish reason/.test(message ?? '')
    return isAboutReason && this.#call.wire?.notes.ended === true
  }

  *#finish(
    finish: JsonObject | undefined,
    decoder: PartDecoder,
    shape: 'stream' | 'whole',
  ): Generator<ModelPart, void, undefined> {
    const { provider } = this.#errors
    const notes = this.#call.wire?.notes
    const { reason, rawReason } = endingOf(finish?.['finishReason'], notes?.rawReason)
    const usage = usageOf(notes?.usage) ?? usageOfSdk(finish?.['usage'])
    this.#reported = notes?.usage
    if (notes?.model !== undefined) yield { type: 'response', model: notes.model }
    yield { type: 'usage', usage }
    if (finish === undefined || reason === 'interrupted') {
      throw new CriaError('stream_interrupted', `${provider}: the stream ended before the answer did.`)
    }
    // The provider ended properly and gave no reason.
    const properEnd = rawReason === undefined && (notes?.ended === true || shape === 'whole')
    if (reason === 'error' && !properEnd) {
      throw new CriaError(
        'invalid_response',
        `${provider} gave up the answer${rawReason === undefined ? '' : ` (${rawReason})`}.`,
        {
          hint: 'The model wrote something that its provider could not read; ask again.',
        },
      )
    }
    const ended =
      properEnd && reason !== 'stop' ? (decoder.calls > 0 ? 'tool-calls' : 'other') : reason === 'error' ? 'other' : reason
    if (ended === 'tool-calls' && decoder.calls === 0) {
      throw new CriaError('invalid_response', `${provider} ended its answer with tool calls and made none.`)
    }
    yield { type: 'finish', reason: ended, ...(rawReason === undefined ? {} : { rawReason }) }
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
