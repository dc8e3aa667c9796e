/**
 * The query loop, from a question to its answer. Read this file first.
 *
 *     question ─► prepare ─► model ─► tools ─┐
 *                    ▲                       │ until the model stops
 *                    └───────────────────────┘
 *             every event ─► recorder ─► reader
 *
 * Stations return their decisions; only the loop changes the turn: its step, its input and its conversation.
 */

import type { Station } from '../core/context.ts'
import { toCriaError } from '../core/error.ts'
import type { EventBody, QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { currentModel } from '../model/chain.ts'
import type { Answer } from '../model/answer.ts'
import { continued, withSaid } from '../prepare/conversation.ts'
import { offeredTokens } from '../prepare/tokens.ts'
import { unsettledCalls } from '../tools/state.ts'
import { ignoreRejection } from '../util/promise.ts'
import { prepareAndAsk } from './ask-model.ts'
import { costOf } from './budget/plan.ts'
import { checkOptions } from './checks/options.ts'
import { finish } from './finish.ts'
import { promptHook, steered, stopHook } from './interventions.ts'
import type { EngineOptions } from './options.ts'
import { currentBatch, currentCall, inherited } from './parent.ts'
import { recall, resumeWaiting, withResults } from './recall.ts'
import { currentSpan } from './span.ts'
import { isToStop, settingsOfStep, toolsContext } from './step.ts'
import type { StepSettings } from './step.ts'
import { runTurn } from './turn-reader.ts'
import { beginTurn, DEFAULT_MAX_STEPS, startOf } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * Answers a question and streams the events of the turn. The last event is `complete`, `cancelled` or `error`; no error is thrown
 * after the first event. Leaving the generator early cancels the turn.
 *
 * @throws ConfigurationError at once, before any request is made, if the options are wrong.
 */
export function query(options: EngineOptions): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  checkOptions(options)
  const caller = currentCall()
  const batch = currentBatch(caller)
  const own = inherited(options, caller, batch)
  const parent = options.span ?? currentSpan()
  return runTurn(() => beginTurn(own, parent, caller, batch), steps)
}

async function* steps(turn: Turn): Station<QueryResult> {
  const { ctx, options } = turn
  const maxSteps = options.maxSteps ?? DEFAULT_MAX_STEPS
  yield startOf(turn)
  yield* options.notices ?? []
  yield* firstSwitch(turn)
  turn.input = yield* recall(turn)
  turn.tools.unsettled = unsettledCalls([...turn.input.history, ...(turn.input.since ?? [])])
  let resumed = yield* resumeWaiting(turn)
  if (resumed !== undefined) {
    turn.input = resumed.input
    turn.tools.untrusted = true
  }
  const added = yield* promptHook(turn)
  if (added !== undefined) turn.input = { ...turn.input, added: [...(turn.input.added ?? []), added] }

  for (;;) {
    ctx.signal.throwIfAborted()
    turn.step++
    addMessages(turn, yield* steered(turn))
    const settings = yield* settingsOfStep(turn)
    const answer = resumed?.answer ?? (yield* ask(turn, settings))

    const calls = answer.message.toolCalls ?? []
    const mayContinue = calls.length === 0 && turn.step < maxSteps
    if (answer.paused && mayContinue) {
      addAnswer(turn, settings, answer, [])
      continue
    }
    if (calls.length === 0 || options.executeTools === false || wasCut(answer)) {
      // A whole answer ends the turn, unless the review, a hook or a steering message asks for another step.
      const isWhole = mayContinue && !wasCut(answer)
      const more = isWhole ? yield* stopHook(answer, turn) : undefined
      if (!isWhole || (more === undefined && !isSteered(turn))) return yield* finish(answer, turn)
      addAnswer(turn, settings, answer, [])
      if (more !== undefined) addMessages(turn, [more])
      continue
    }

    turn.tools.untrusted ||= turn.conversation?.untrusted ?? false
    // Most turns call no tool: the tools station with its permission rules is loaded on first use.
    const { runTools } = await import('../tools/run.ts')
    const { messages: results, waiting } = yield* runTools(calls, toolsContext(turn, settings, resumed?.decided))
    yield { type: 'note', entry: { type: 'messages', step: turn.step, messages: results } }
    if (waiting.length > 0) return yield* finish(answer, turn, 'waiting', waiting)
    if (resumed === undefined) addAnswer(turn, settings, answer, results)
    else turn.input = withResults(turn.input, results)
    resumed = undefined
    if (await isToStop(turn, answer.message, results)) return yield* finish(answer, turn, 'stop-when')
    if (turn.step >= maxSteps) return yield* finish(answer, turn, 'max-steps')
  }
}

/** Adds user messages since the last step; in the first step they precede the prompt, since they are older. */
function addMessages(turn: Turn, messages: readonly Message[]): void {
  if (messages.length === 0) return
  const { conversation, input } = turn
  const said = conversation === undefined ? [...messages, ...input.messages] : [...input.messages, ...messages]
  turn.input = { ...input, messages: said }
  if (conversation !== undefined) turn.conversation = withSaid(conversation, messages)
}

/** Adds an answer and the results of its tools to the conversation. */
function addAnswer(turn: Turn, { request }: StepSettings, answer: Answer, results: readonly Message[]): void {
  const { conversation } = turn
  if (conversation !== undefined) turn.conversation = continued(conversation, answer, results, offeredTokens(request))
}

/** Returns `true` if user messages are waiting that the model has not received. */
function isSteered({ options }: Turn): boolean {
  return (options.steering?.waiting.length ?? 0) > 0
}

/** Returns `true` for an answer that was cut off: its calls may be incomplete and are not run. */
function wasCut({ finishReason }: Answer): boolean {
  return finishReason === 'length' || finishReason === 'content-filter'
}

/** Switches to another model before the first step, if the first one failed recently or lacks a capability. */
function* firstSwitch(turn: Turn): Generator<EventBody> {
  const { model, specialist } = turn.options
  const first = currentModel(turn.chain)
  if (first === model) return
  const coolDown = first === specialist ? undefined : turn.ctx.coolDowns?.of(model)
  const reason = first === specialist ? 'specialized_task' : (coolDown?.reason ?? 'default')
  const failed = coolDown?.error === undefined ? {} : { error: coolDown.error }
  yield { type: 'model_switch', from: model.ref, to: first.ref, reason, ...failed }
}

/** Gets the answer of a step, and reports its usage and its message. */
async function* ask(turn: Turn, settings: StepSettings): Station<Answer> {
  const { answer, conversation } = yield* prepareAndAsk(turn, settings)
  turn.conversation = conversation
  const { usage, model, cacheHit, message } = answer
  yield { type: 'usage', usage, costUsd: cacheHit ? 0 : costOf(usage, model.facts.price ?? undefined) }
  try {
    ignoreRejection(turn.options.onUpdateUsage?.(usage))
  } catch (thrown) {
    yield { type: 'notice', code: 'callback_failed', message: `onUpdateUsage threw: ${toCriaError(thrown).message}` }
  }
  yield { type: 'message', message }
  return answer
}
