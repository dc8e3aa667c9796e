/** One request to a provider, and the parts of its answer. */

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { CriaError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../../core/model.ts'
import type { Span } from '../../core/span.ts'
import { Answer } from './answer.ts'
import type { OpenedCall } from './answer.ts'
import type { ErrorContext } from './errors.ts'
import { toProviderError } from './errors.ts'
import { PartDecoder } from './parts.ts'
import { toCallOptions } from './request.ts'
import type { StyleName } from './style.ts'
import { STYLES } from './style.ts'
import { splitThinkTags } from './think-tags.ts'
import { ToolNames } from './tool-names.ts'

export interface AdapterOptions {
  /** `provider/model`. */
  readonly ref: string
  readonly style: StyleName
  readonly facts?: () => ModelFacts
  /** See `LanguageModel`; asked with each request, since keys and places may change in the environment. */
  readonly identity: () => string
  /** Makes what one call needs; loads the package of the provider on first use. @throws CriaError when something is missing. */
  readonly open: (options: LanguageModelV4CallOptions) => Promise<OpenedCall>
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
  readonly errors: Omit<ErrorContext, 'ref'>
  /** `off` becomes `low` for a model that cannot stop reasoning. */
  readonly alwaysThinks?: boolean
  /** Text that begins with `<think>` is split into thinking and text. */
  readonly thinkTags?: boolean
}

/** @throws CriaError, with the provider, the status and what to do. */
export function exchange(
  options: AdapterOptions,
  model: LanguageModel,
  request: ModelRequest,
  ctx: ModelCall,
): AsyncGenerator<ModelPart, void, undefined> {
  const parts = run(options, model, request, ctx)
  return options.thinkTags === true ? splitThinkTags(parts) : parts
}

async function* run(
  options: AdapterOptions,
  model: LanguageModel,
  request: ModelRequest,
  ctx: ModelCall,
): AsyncGenerator<ModelPart, void, undefined> {
  const errors: ErrorContext = { ...options.errors, ref: options.ref }
  let call: OpenedCall | undefined
  let answer: Answer | undefined
  // `fetch` leaves its listener on the signal until it is collected; the caller's signal may serve a thousand calls.
  const own = new AbortController()
  const onAbort = (): void => own.abort(ctx.signal.reason)
  ctx.signal.addEventListener('abort', onAbort, { once: true })
  try {
    ctx.signal.throwIfAborted()
    const names = new ToolNames((request.tools ?? []).map((tool) => tool.name))
    const callOptions = toCallOptions(fitThinking(request, model, options, ctx.span), {
      ref: options.ref,
      style: STYLES[options.style],
      names,
      signal: own.signal,
      providerOptions: options.providerOptions ?? {},
    })
    call = await options.open(callOptions)
    const takenIds = new Set(request.messages.flatMap((message) => (message.toolCalls ?? []).map(({ id }) => id)))
    answer = new Answer({
      call,
      options: callOptions,
      shape: request.stream ? 'stream' : 'whole',
      decoder: () => new PartDecoder({ ref: options.ref, names, takenIds, createId: () => createId('call') }),
      provider: options.errors.provider,
      span: ctx.span,
    })
    for (let parts = await answer.next(); parts !== undefined; parts = await answer.next()) {
      for (const part of parts) yield part
    }
  } catch (thrown) {
    if (ctx.signal.aborted) throw abortReason(ctx.signal, errors)
    // What was spent is not lost with the answer.
    const spent = answer?.unreportedUsage()
    if (spent !== undefined) yield { type: 'usage', usage: spent }
    throw toProviderError(thrown, errors, answer?.begun === true ? 'stream' : 'request', (data) => call?.wire?.numberOf(data))
  } finally {
    ctx.signal.removeEventListener('abort', onAbort)
    answer?.close()
  }
}

/** A model that does not reason refuses to be told how much it should. */
function fitThinking(request: ModelRequest, model: LanguageModel, { alwaysThinks }: AdapterOptions, span: Span): ModelRequest {
  if (request.thinking === undefined) return request
  if (request.thinking === 'off' && alwaysThinks === true) return { ...request, thinking: 'low' }
  if (model.facts.thinking !== false) return request
  if (request.thinking !== 'off')
    span.event('provider_warning', { kind: 'unsupported', message: `${model.ref} does not reason.` })
  const { thinking: _, ...rest } = request
  return rest
}

function abortReason(signal: AbortSignal, errors: ErrorContext): CriaError {
  return signal.reason instanceof CriaError
    ? signal.reason
    : toProviderError(signal.reason ?? new DOMException('Aborted', 'AbortError'), errors, 'request')
}
