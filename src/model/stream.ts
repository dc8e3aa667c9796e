/** Station 2: gets one assistant message out of a model, or out of its fallbacks. */

import { setImmediate } from 'node:timers/promises'
import { ATTRIBUTE } from '../core/attributes.ts'
import type { Station } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import { fromParts } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import type { Span } from '../core/span.ts'
import { iterateIn } from '../core/span.ts'
import type { Usage } from '../core/usage.ts'
import { orAborted } from '../util/abort.ts'
import type { Answer, ModelChain, ModelContext, Overflow } from './answer.ts'
import { Assembler } from './assemble.ts'
import type { Assembled } from './assemble.ts'
import { cached } from './cached.ts'
import { restUntil } from './cool-down.ts'
import { fitRequest } from './fit.ts'
import { givenUp, recover } from './recover.ts'
import { wasRefused } from './refused.ts'
import { readTextToolCalls } from './text-tool-calls.ts'
import { Watchdog } from './watchdog.ts'

/** Everything that an attempt may end in but an answer. */
interface Failure {
  readonly error: CriaError
  readonly shown: boolean
}

/**
 * Tries until there is an answer, by the table in `recover.ts`. Yields what the model says as it comes; a failed attempt that had
 * shown something is followed by `reset`.
 *
 * @throws CriaError when no attempt is left, or none would help.
 */
export async function* streamModel(request: ModelRequest, ctx: ModelContext): Station<Answer | Overflow> {
  const { chain, cache } = ctx
  if (cache === undefined) return yield* tryUntilAnswered(request, ctx)
  const model = modelAt(chain, chain.current)
  return yield* cached(fitRequest(request, model), model, cache, ctx, () => tryUntilAnswered(request, ctx))
}

async function* tryUntilAnswered(request: ModelRequest, ctx: ModelContext): Station<Answer | Overflow> {
  const { chain } = ctx
  let retries = 0
  for (let attempt = 1; ; attempt++) {
    const model = modelAt(chain, chain.current)
    const outcome = yield* tryOnce(fitRequest(request, model), model, attempt, ctx)
    if ('message' in outcome) {
      ctx.coolDowns?.wake(model)
      return outcome
    }
    const { error, shown } = outcome
    if (ctx.signal.aborted) throw ctx.signal.reason

    const hasFallback = chain.current + 1 < chain.models.length
    const recovery = recover(error, { retries, shown, hasFallback, random: ctx.random() }, ctx.retry)
    if (recovery.action === 'fail') throw givenUp(error, attempt, ctx.retry)
    if (recovery.action === 'retry') yield { type: 'retry', attempt, delay: recovery.delay, error: error.toJSON() }
    if (shown) yield { type: 'reset', attempt }
    if (recovery.action === 'overflow') return { type: 'overflow', error, model }
    if (recovery.action === 'retry') {
      retries++
      await ctx.clock.sleep(recovery.delay, ctx.signal)
    } else {
      retries = 0
      const { reason } = recovery
      const now = ctx.clock.now()
      ctx.coolDowns?.rest(model, { until: restUntil(error, now, ctx.retry.coolDown), reason }, now)
      yield* switchModel(chain, reason)
    }
  }
}

/** Moves on to the next model of the chain. */
async function* switchModel(chain: ModelChain, reason: SwitchReason): Station<void> {
  const from = modelAt(chain, chain.current).ref
  chain.current++
  yield { type: 'model_switch', from, to: modelAt(chain, chain.current).ref, reason }
}

function modelAt(chain: ModelChain, index: number): LanguageModel {
  const model = chain.models[index]
  if (model === undefined) throw new CriaError('internal', `There is no model number ${index} in the chain.`)
  return model
}

/** One request, settled however it ends. */
async function* tryOnce(
  request: ModelRequest,
  model: LanguageModel,
  attempt: number,
  ctx: ModelContext,
): Station<Answer | Failure> {
  const admitted = await ctx.ledger.reserve(model, request)
  const progress: Progress = { assembler: new Assembler(model.ref), begun: false, error: undefined }
  let outcome: Unsettled | Failure
  let usage: Usage
  try {
    outcome = yield* attemptOnce(admitted, model, attempt, progress, ctx)
  } finally {
    const { assembler } = progress
    const { usage: told, parts } = assembler.result()
    const refused = progress.error !== undefined && !progress.begun && wasRefused(progress.error)
    usage = await ctx.ledger.settle(model, admitted, { usage: told, parts, finished: assembler.finished, refused })
  }
  return 'message' in outcome ? { ...outcome, usage } : outcome
}

type Unsettled = Omit<Answer, 'usage'>

/** How far an attempt got, for those who have to know when it is cut off. */
interface Progress {
  assembler: Assembler
  /** Something has come. */
  begun: boolean
  error: CriaError | undefined
}

async function* attemptOnce(
  request: ModelRequest,
  model: LanguageModel,
  attempt: number,
  progress: Progress,
  ctx: ModelContext,
): Station<Unsettled | Failure> {
  const span = ctx.span.child('llm_request', {
    [ATTRIBUTE.operation]: 'chat',
    [ATTRIBUTE.provider]: model.ref.split('/', 1)[0] ?? model.ref,
    [ATTRIBUTE.model]: model.ref,
    [ATTRIBUTE.stream]: request.stream,
    [ATTRIBUTE.attempt]: attempt,
    ...(request.temperature === undefined ? {} : { [ATTRIBUTE.temperature]: request.temperature }),
  })
  let shown = false
  try {
    const parts = readTextToolCalls(partsOf(request, model, span, ctx), request.tools ?? [], ctx.createId)
    for await (const part of parts) {
      progress.begun = true
      if (part.type === 'restart') {
        progress.assembler = new Assembler(model.ref)
        if (shown) yield { type: 'reset', attempt }
        shown = false
        continue
      }
      progress.assembler.add(part)
      if (part.type === 'text' && part.text !== '') {
        shown = true
        yield { type: 'text_delta', text: part.text, attempt }
      } else if (part.type === 'thinking' && part.text !== '' && ctx.showThinking) {
        shown = true
        yield { type: 'thinking', content: part.text, attempt }
      }
    }
    const assembled = progress.assembler.result()
    noteResponse(span, assembled)
    return { ...answerOf(assembled, model), message: messageOf(assembled, ctx), model, cacheHit: false }
  } catch (thrown) {
    const error = toCriaError(thrown)
    progress.error = error
    span.fail(error)
    return { error, shown }
  } finally {
    span.end()
  }
}

/** A model that answers without waiting, one in this process, lets the event loop turn once for so many parts. */
const PARTS_PER_TURN = 256

/** Nobody looks at it: making the error that is the default takes milliseconds in a cold process. */
const OVER = 'The attempt is over.'

/** The parts of one attempt, up to and with `finish`; what a provider sends after that is not part of the answer. */
async function* partsOf(
  request: ModelRequest,
  model: LanguageModel,
  span: Span,
  ctx: ModelContext,
): AsyncGenerator<Parameters<Assembler['add']>[0]> {
  const over = new AbortController()
  const watchdog = new Watchdog(model.ref, ctx.timeouts, ctx.clock)
  const signal = AbortSignal.any([ctx.signal, watchdog.signal, over.signal])
  const parts = iterateIn(span, model.stream(request, { signal, span }))
  void watchdog.watch(over.signal)
  try {
    for (let received = 0; ; received++) {
      // Else timers and signals would have no turn, however many questions are asked one after the other, and aborted signals would be kept.
      if (received % PARTS_PER_TURN === 0) await setImmediate()
      watchdog.waiting()
      const next = await orAborted(parts.next(), signal)
      watchdog.received()
      if (next.done === true) return
      yield next.value
      if (next.value.type === 'finish') return
    }
  } finally {
    // First the signal, then the iterator: a generator that waits cannot be returned before its wait ends. One that ignores the
    // signal is not waited for.
    over.abort(OVER)
    void parts.return().catch(() => {})
  }
}

/** @throws CriaError when what came is no answer. */
function answerOf(assembled: Assembled, model: LanguageModel): Pick<Answer, 'type' | 'finishReason' | 'abstained'> {
  const { finishReason, rawReason, abstained } = assembled
  if (finishReason === undefined) {
    throw new CriaError('stream_interrupted', `The stream of ${model.ref} ended without saying that it was finished.`)
  }
  if (finishReason === 'error') {
    throw new CriaError(
      'stream_interrupted',
      `${model.ref} ended its answer with an error${rawReason === undefined ? '' : ` (${rawReason})`}.`,
    )
  }
  if (assembled.parts.length === 0 && (finishReason === 'stop' || finishReason === 'other')) {
    throw new CriaError(
      'no_assistant_message',
      `${model.ref} finished${rawReason === undefined ? '' : ` (${rawReason})`} without saying anything.`,
    )
  }
  return { type: 'answer', finishReason, abstained }
}

function messageOf(assembled: Assembled, ctx: ModelContext): Message {
  return fromParts('assistant', assembled.parts, { id: ctx.createId('msg') })
}

function noteResponse(span: Span, { responseId, responseModel, finishReason, usage }: Assembled): void {
  span.set({
    ...(responseId === undefined ? {} : { [ATTRIBUTE.responseId]: responseId }),
    ...(responseModel === undefined ? {} : { [ATTRIBUTE.responseModel]: responseModel }),
    ...(finishReason === undefined ? {} : { [ATTRIBUTE.finishReasons]: [finishReason] }),
    [ATTRIBUTE.inputTokens]: usage.inputTokens,
    [ATTRIBUTE.outputTokens]: usage.outputTokens,
    [ATTRIBUTE.cacheReadTokens]: usage.cacheReadTokens,
    [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens,
  })
}
