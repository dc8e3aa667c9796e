/** Makes one request to a model and yields the parts of its answer. */

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
  /** Returns the server, key and settings that distinguish the model from others of its name, or a name for them. Keys may change between requests. */
  readonly identity: () => Place | string
  readonly errors: Omit<ErrorContext, 'ref'>
  /** Splits `<think>…</think>` at the beginning of a text into thinking. Default: text stays text. */
  readonly thinkTags?: boolean | undefined
  /** Loads the codec on first use and encodes the request. @throws CriaError when a key is missing, or the request cannot be sent. */
  readonly open: (input: OpenInput) => Promise<Opened>
}

export interface Place {
  readonly baseURL: string | undefined
  readonly key?: string | undefined
  readonly headers?: unknown
  /** A `fetch` of the caller: part of the identity, since it may reach another server. */
  readonly fetch?: unknown
  readonly settings?: unknown
}

export interface OpenInput {
  readonly model: LanguageModel
  readonly request: ModelRequest
  readonly names: ToolNames
  readonly signal: AbortSignal
  /** Records on the span a setting that cannot be sent. */
  readonly warn: (message: string) => void
}

export interface Opened {
  /**
   * Makes the request and adds the received parts to `answer`; yields after each addition. Closes the connection when it ends or is left.
   * @throws any error, after the parts that were received before it were added.
   */
  readonly read: (answer: Answer) => AsyncGenerator<void, void, undefined>
  readonly readUsage: ReadUsage
}

/** @throws CriaError that names the provider, the status and what to do. */
export async function* exchange(
  options: AdapterOptions,
  model: LanguageModel,
  request: ModelRequest,
  ctx: ModelCall,
): AsyncGenerator<ModelPart, void, undefined> {
  const errors: ErrorContext = { ...options.errors, ref: model.ref }
  let answer: Answer | undefined
  // `fetch` leaves its listener on the signal until garbage collection; the caller's signal may serve a thousand calls.
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
    // Parts and usage that were received before the error are still yielded.
    for (const part of answer?.takeLast() ?? []) yield part
    throw toProviderError(thrown, errors, answer?.hasBegun === true ? 'stream' : 'request')
  } finally {
    ctx.signal.removeEventListener('abort', onAbort)
  }
}

/** Adds the last parts. @throws CriaError when the answer is not complete. */
function finish(answer: Answer, provider: string): void {
  const reason = answer.end()
  if (reason === 'interrupted') throw new CriaError('stream_interrupted', `${provider}: the stream ended before the answer did.`)
  if (reason === 'error') {
    throw new CriaError('invalid_response', `${provider} ended the answer with an error (${answer.rawReason || 'error'}).`, {
      hint: 'The model wrote output that its provider could not read: try again.',
    })
  }
  if (reason === 'tool-calls' && answer.calls === 0)
    throw new CriaError('invalid_response', `${provider} ended its answer with tool calls and made none.`)
  answer.finish(reason)
}

/** Leaves out the thinking effort for models that do not reason, which refuse it. */
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
