/** One request to a model, and the parts of its answer. */

import { CriaError } from '../core/error.ts'
import { createId } from '../core/id.ts'
import type { LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../core/model.ts'
import type { Span } from '../core/span.ts'
import { Answer } from './answer/answer.ts'
import type { ReadUsage } from './answer/usage.ts'
import { ToolNames } from './conversation/names.ts'
import type { ErrorContext } from './errors/errors.ts'
import { toProviderError } from './errors/errors.ts'

export interface AdapterOptions {
  /** `provider/model`. */
  readonly ref: string
  readonly facts: () => ModelFacts
  /** See `LanguageModel`; read with each request, since keys and base URLs may change in the environment. */
  readonly identity: () => string
  readonly errors: Omit<ErrorContext, 'ref'>
  /** Splits `<think>…</think>` at the beginning of a text into thinking. Default: text stays text. */
  readonly thinkTags?: boolean | undefined
  /** Loads what is needed on first use. @throws CriaError when something is missing, or cannot be sent. */
  readonly open: (input: OpenInput) => Promise<Opened>
}

export interface OpenInput {
  readonly model: LanguageModel
  readonly request: ModelRequest
  readonly names: ToolNames
  readonly signal: AbortSignal
  /** Notes on the span what cannot be sent as asked. */
  readonly warn: (message: string) => void
}

export interface Opened {
  /**
   * Makes the request and adds what comes to the answer; yields when something was added, and closes the connection when it is over or left.
   * @throws what went wrong, after all that came before it was added.
   */
  readonly read: (answer: Answer) => AsyncGenerator<void, void, undefined>
  readonly readUsage: ReadUsage
}

/** @throws CriaError, with the provider, the status and what to do. */
export async function* exchange(
  options: AdapterOptions,
  model: LanguageModel,
  request: ModelRequest,
  ctx: ModelCall,
): AsyncGenerator<ModelPart, void, undefined> {
  const errors: ErrorContext = { ...options.errors, ref: model.ref }
  let answer: Answer | undefined
  // `fetch` leaves its listener on the signal until it is collected; the caller's signal may serve a thousand calls.
  const own = new AbortController()
  const onAbort = (): void => own.abort(ctx.signal.reason)
  ctx.signal.addEventListener('abort', onAbort, { once: true })
  try {
    ctx.signal.throwIfAborted()
    const warn = (message: string): void => ctx.span.event('provider_warning', { kind: 'unsupported', message })
    const names = new ToolNames((request.tools ?? []).map((tool) => tool.name))
    const fitted = fitThinking(request, model, ctx.span)
    const { read, readUsage } = await options.open({ model, request: fitted, names, signal: own.signal, warn })
    const takenIds = new Set(request.messages.flatMap((message) => (message.toolCalls ?? []).map(({ id }) => id)))
    const { thinkTags = false } = options
    answer = new Answer({ ref: model.ref, names, takenIds, createId: () => createId('call'), thinkTags }, readUsage)
    for await (const _ of read(answer)) for (const part of answer.take()) yield part
    finish(answer, errors.provider)
    for (const part of answer.take()) yield part
  } catch (thrown) {
    if (ctx.signal.aborted) throw abortReason(ctx.signal, errors)
    // What came before the error is not lost with it, and what was spent is told.
    for (const part of answer?.takeLast() ?? []) yield part
    throw toProviderError(thrown, errors, answer?.hasBegun === true ? 'stream' : 'request')
  } finally {
    ctx.signal.removeEventListener('abort', onAbort)
  }
}

/** @throws CriaError when what came is not a whole answer. */
function finish(answer: Answer, provider: string): void {
  const reason = answer.end()
  if (reason === 'interrupted') throw new CriaError('stream_interrupted', `${provider}: the stream ended before the answer did.`)
  if (reason === 'error') {
    throw new CriaError('invalid_response', `${provider} gave up the answer (${answer.rawReason || 'error'}).`, {
      hint: 'The model wrote something that its provider could not read; ask again.',
    })
  }
  if (reason === 'tool-calls' && answer.calls === 0)
    throw new CriaError('invalid_response', `${provider} ended its answer with tool calls and made none.`)
  answer.finish(reason)
}

/** A model that does not reason refuses to be told how much it should. */
function fitThinking(request: ModelRequest, { ref, facts }: LanguageModel, span: Span): ModelRequest {
  if (request.thinking === undefined || facts.thinking !== false) return request
  if (request.thinking !== 'off') span.event('provider_warning', { kind: 'unsupported', message: `${ref} does not reason.` })
  const { thinking: _, ...rest } = request
  return rest
}

function abortReason(signal: AbortSignal, errors: ErrorContext): CriaError {
  return signal.reason instanceof CriaError
    ? signal.reason
    : toProviderError(signal.reason ?? new DOMException('Aborted', 'AbortError'), errors, 'request')
}
