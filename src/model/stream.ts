/** The model station: gets one assistant message from a model or its fallbacks. */

import { ATTRIBUTE } from '../core/span.ts'
import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { CreateId } from '../core/id.ts'
import type { EventBody, NoticeEvent } from '../core/event.ts'
import { fromParts } from '../core/message.ts'
import type { FinishReason, LanguageModel, ModelRequest } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import type { Span } from '../core/span.ts'
import type { Usage } from '../core/usage.ts'
import { defined } from '../util/check.ts'
import type { Answer, ModelContext, Overflow } from './answer.ts'
import { Assembler, windowFull } from './assemble.ts'
import type { Assembled } from './assemble.ts'
import { cached, shownOf } from './cached.ts'
import { createCeilings, attemptParts } from './limits.ts'
import { currentModel, passOn, coolDownUntil } from './chain.ts'
import { errorInfo, failureOf, wasRefused } from './error-info.ts'
import { fitRequest, unfitFor } from './fit.ts'
import { modelParts } from './model-parts.ts'
import { givenUp, isOfModel, recover, switchReason } from './recover.ts'
import type { AttemptState, ModelFailure } from './recover.ts'
import { readAlone } from './answer-reader.ts'
import type { AnswerReader, GroupMember, StartRequest } from './answer-reader.ts'
import { readTextToolCalls } from './text-tool-calls.ts'

/** The outcome of a failed attempt. */
interface Failure {
  readonly error: CriaError
  /** `true`: text or thinking has been shown. */
  readonly shown: boolean
  /** Events that tell the reader to discard what was shown: text, thinking, or arguments of a call. Empty if nothing was. */
  readonly takeBack: readonly EventBody[]
}

/**
 * Tries until there is an answer, by the policy in `recover.ts`. Yields the output of the model as it arrives; a failed attempt that
 * has shown output is followed by `reset`.
 *
 * @throws CriaError if no attempt is left, or none would help.
 */
export async function* streamModel(request: ModelRequest, ctx: ModelContext): Station<Answer | Overflow> {
  const { chain } = ctx
  const { models } = chain
  const spent = new Set<LanguageModel>()
  const fits = (candidate: LanguageModel): boolean => !spent.has(candidate) && unfitFor(request, candidate) === undefined
  yield* passOver(request, ctx)
  const retries = new Map<LanguageModel, number>()
  /** When each model may be tried again, by the clock of the turn; for models that were left only because their wait was too long. */
  const waiting = new Map<LanguageModel, number>()
  const before: ModelFailure[] = []
  for (let attempt = 1; ; attempt++) {
    const model = currentModel(chain)
    const { request: fitted, omitted: all } = fitRequest(request, model)
    const omitted = all.filter((name) => ctx.unasked?.includes(name) !== true)
    if (omitted.length > 0) yield* noticeOnce(leftOut(omitted, model), ctx)
    const outcome = yield* cached(fitted, model, attempt, ctx, (member) => tryOnce(fitted, model, attempt, ctx, member))
    if ('message' in outcome) {
      if (!outcome.cacheHit) ctx.coolDowns?.end(model)
      return outcome
    }
    const { error, shown, takeBack } = outcome
    if (ctx.signal.aborted) throw ctx.signal.reason

    const following = models.slice(chain.current + 1)
    const now = ctx.clock.now()
    const timeLeft = ctx.deadline - now
    const tried = retries.get(model) ?? 0
    const state = { retries: tried, shown, fallback: healthOf(following.filter(fits), ctx, now), timeLeft, random: ctx.random() }
    const recovery = recover(error, state, ctx.retry, ctx.fallbackOn)
    const info = errorInfo(error)
    if (recovery.action === 'overflow') {
      yield* takeBack
      return { type: 'overflow', error, model }
    }
    if (recovery.action === 'retry') {
      yield { type: 'retry', attempt, delay: recovery.delay, error: info }
      yield* takeBack
      retries.set(model, tried + 1)
      await ctx.clock.sleep(recovery.delay, ctx.signal)
      continue
    }
    const isFinal = shown && ctx.retry.afterOutput === 'error'
    const due = recovery.action === 'fail' && !isFinal && isOfModel(error) ? nextDue(waiting, now, timeLeft) : undefined
    if (recovery.action === 'fail' && due === undefined) {
      if (state.fallback === 'none') yield* following.flatMap((each) => [...passedOver(request, each, ctx)])
      throw givenUp(error, attempt, ctx.retry, before, timeLeft)
    }
    yield* takeBack
    before.push({ model: model.ref, error })
    if (recovery.action === 'switch') {
      const { reason, wait } = recovery
      if (wait === undefined) spent.add(model)
      else waiting.set(model, now + wait)
      retries.set(model, tried + 1)
      ctx.coolDowns?.start(model, { until: coolDownUntil(error, now, ctx.retry.coolDown), reason, error: info }, now)
      yield* following.slice(0, following.findIndex(fits)).flatMap((each) => [...passedOver(request, each, ctx)])
      const switched = passOn(chain, reason, fits)
      if (switched !== undefined) yield { ...switched, error: info }
    } else if (due !== undefined) {
      // No fallback is left: wait for the model after all.
      spent.add(model)
      waiting.delete(due.model)
      chain.current = models.indexOf(due.model)
      yield { type: 'model_switch', from: model.ref, to: due.model.ref, reason: switchReason(error), error: info }
      if (due.delay > 0) {
        yield { type: 'retry', attempt, delay: due.delay, error: info }
        await ctx.clock.sleep(due.delay, ctx.signal)
      }
    }
  }
}

/** Returns the availability of these models: `healthy` if one has not failed recently. */
function healthOf(models: readonly LanguageModel[], { coolDowns }: ModelContext, now: number): AttemptState['fallback'] {
  if (models.length === 0) return 'none'
  return models.some((each) => (coolDowns?.of(each)?.until ?? 0) <= now) ? 'healthy' : 'cooling'
}

/** Returns the model whose wait ends first and before the turn's deadline, with the milliseconds until then. */
function nextDue(
  waiting: ReadonlyMap<LanguageModel, number>,
  now: number,
  timeLeft: number,
): { readonly model: LanguageModel; readonly delay: number } | undefined {
  const [first] = [...waiting].map(([model, at]) => ({ model, delay: Math.max(0, at - now) })).sort((a, b) => a.delay - b.delay)
  return first === undefined || first.delay >= timeLeft ? undefined : first
}

/** Switches to the first model that can serve the request. @throws CriaError `invalid_request` if none can. */
function* passOver(request: ModelRequest, ctx: ModelContext): Generator<EventBody> {
  const model = currentModel(ctx.chain)
  const unfit = unfitFor(request, model)
  if (unfit === undefined) return
  yield* passedOver(request, model, ctx)
  const switched = passOn(ctx.chain, 'model_unavailable', (each) => unfitFor(request, each) === undefined)
  if (switched === undefined) {
    throw new CriaError('invalid_request', `${model.ref} ${unfit}, and no other model was named that can. It was not asked.`, {
      hint: 'Name a model that can, as `model` or among the fallback models; or correct its `facts` if they are wrong.',
    })
  }
  // Not a failure: another model has the required capability.
  yield { ...switched, reason: 'specialized_task' }
}

/** Yields a notice unless this turn has shown it already. */
function* noticeOnce(notice: NoticeEvent, { shownNotices }: ModelContext): Generator<NoticeEvent> {
  if (shownNotices.has(notice.message)) return
  shownNotices.add(notice.message)
  yield notice
}

function* passedOver(request: ModelRequest, model: LanguageModel, ctx: ModelContext): Generator<NoticeEvent> {
  const unfit = unfitFor(request, model)
  if (unfit !== undefined)
    yield* noticeOnce({ type: 'notice', code: 'model_passed_over', message: `${model.ref} ${unfit}: it is not asked.` }, ctx)
}

function leftOut(omitted: readonly string[], { ref }: LanguageModel): NoticeEvent {
  return {
    type: 'notice',
    code: 'left_out',
    message: `Left out of the request to ${ref}, which does not take them: ${omitted.join(', ')}.`,
    details: { model: ref, omitted: [...omitted] },
  }
}

/** Makes one request. Books its usage and ends its span even when it fails or the reader leaves. */
async function* tryOnce(
  given: ModelRequest,
  model: LanguageModel,
  attempt: number,
  ctx: ModelContext,
  member: GroupMember | undefined,
): Station<Answer | Failure> {
  const request = await ctx.ledger.reserve(model, given)
  const assembler = new Assembler(model.ref)
  const countPart = createCeilings(ctx.answerLimits, model.ref)
  const span = requestSpan(request, model, attempt, ctx)
  /** The reader of the answer, which may be shared. */
  let reader: AnswerReader | undefined
  let hasBegun = false
  let shown = false
  let typed = false
  const takeBack = (): EventBody[] => (shown || typed ? [{ type: 'reset', attempt }] : [])
  let outcome: Omit<Answer, 'usage' | 'cacheHit'> | Failure
  let error: CriaError | undefined
  let usage: Usage
  try {
    const start: StartRequest = (signal) => modelParts(model, request, { signal, span })
    reader = member?.open(request.maxOutputTokens, start) ?? readAlone(start)
    const read = attemptParts(reader, model, request.stream, ctx)
    for await (const part of readTextToolCalls(read, request.tools ?? [], ctx.createId)) {
      hasBegun = true
      countPart(part)
      assembler.add(part)
      if (part.type === 'restart') {
        yield* takeBack()
        shown = false
        typed = false
      }
      const event = shownOf(part, attempt, ctx.showThinking)
      if (event === undefined) continue
      if (event.type === 'tool_input_delta') typed = true
      else shown = true
      yield event
    }
    const assembled = assembler.result()
    noteResponse(span, assembled)
    const finishReason = finishOf(assembled, request, model)
    const unread = await ctx.checkRead?.(request, model, assembled.usage)
    if (unread !== undefined) throw unread
    const { parts, rawReason, abstained, citations } = assembled
    const message = fromParts('assistant', withUniqueCallIds(parts, ctx.createId), { id: ctx.createId('msg') })
    const paused = rawReason === 'pause_turn'
    outcome = { type: 'answer', message, model, finishReason, abstained, paused, ...defined({ citations }) }
  } catch (thrown) {
    error = failureOf(thrown, model.ref)
    span.fail(error)
    outcome = { error, shown, takeBack: takeBack() }
  } finally {
    span.end()
    // A reader that left before the end pays for all parts that had arrived, including unread ones.
    for (const part of reader?.unread() ?? []) assembler.add(part)
    const { usage: reported, parts } = assembler.result()
    const isRefused = !hasBegun && error !== undefined && wasRefused(error)
    const free = isRefused || reader?.pays === false
    usage = await ctx.ledger.settle(model, request, { usage: reported, parts, finished: assembler.finished, free })
  }
  return 'message' in outcome ? { ...outcome, usage, cacheHit: reader?.pays === false } : outcome
}

function requestSpan(request: ModelRequest, { ref }: LanguageModel, attempt: number, { span }: ModelContext): Span {
  return span.child('llm_request', {
    [ATTRIBUTE.operation]: 'chat',
    [ATTRIBUTE.provider]: ref.split('/', 1)[0] ?? ref,
    [ATTRIBUTE.model]: ref,
    [ATTRIBUTE.stream]: request.stream,
    [ATTRIBUTE.attempt]: attempt,
    ...defined({ [ATTRIBUTE.temperature]: request.temperature }),
  })
}

/** Returns how an answer ended. @throws CriaError if the parts do not form an answer. */
function finishOf(assembled: Assembled, request: ModelRequest, model: LanguageModel): FinishReason {
  const { finishReason, rawReason, parts } = assembled
  const overflow = windowFull(assembled, request, model)
  if (overflow !== undefined) throw overflow
  const said = rawReason === undefined ? '' : ` (${rawReason})`
  if (finishReason === undefined)
    throw new CriaError('stream_interrupted', `The stream of ${model.ref} ended without saying that it was finished.`)
  if (finishReason === 'error') throw new CriaError('stream_interrupted', `${model.ref} ended its answer with an error${said}.`)
  // Thinking alone is not an answer, except after tool results, when some models have nothing to add.
  const saysNothing = parts.every(({ type }) => type === 'thinking')
  const hasDoneItsWork = finishReason === 'stop' && request.messages.at(-1)?.role === 'tool'
  if (saysNothing && (finishReason === 'stop' || finishReason === 'other') && !hasDoneItsWork)
    throw new CriaError('no_assistant_message', `${model.ref} finished${said} without saying anything.`)
  return finishReason
}

/** Makes ids of calls unique: models of users may reuse an id, and results could then not be assigned. */
function withUniqueCallIds(parts: readonly Part[], createId: CreateId): readonly Part[] {
  const taken = new Set<string>()
  return parts.map((part) => {
    if (part.type !== 'tool-call') return part
    const id = taken.has(part.id) ? createId('call') : part.id
    taken.add(id)
    return id === part.id ? part : { ...part, id }
  })
}

function noteResponse(span: Span, { responseId, responseModel, finishReason, usage }: Assembled): void {
  span.set({
    ...defined({ [ATTRIBUTE.responseId]: responseId, [ATTRIBUTE.responseModel]: responseModel }),
    ...(finishReason === undefined ? {} : { [ATTRIBUTE.finishReasons]: [finishReason] }),
    [ATTRIBUTE.inputTokens]: usage.inputTokens,
    [ATTRIBUTE.outputTokens]: usage.outputTokens,
    [ATTRIBUTE.cacheReadTokens]: usage.cacheReadTokens,
    [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens,
  })
}
