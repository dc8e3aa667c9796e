/**
 * The loop: one question to its answer. Read this file first.
 *
 *     question ─► prepare ─► model ─► tools ─┐
 *                    ▲                       │ until the model stops
 *                    └───────────────────────┘
 *             every event ─► recorder ─► reader
 */

import type { Station } from '../core/context.ts'
import { toCriaError } from '../core/error.ts'
import type { EventBody, QueryEvent, QueryResult } from '../core/event.ts'
import { currentModel } from '../model/chain.ts'
import type { Answer } from '../model/answer.ts'
import { unheard } from '../util/promise.ts'
import { prepareAndAsk } from './ask.ts'
import { currentBatch, inheritedOfBatch } from './batch.ts'
import { checkOptions } from './check-options.ts'
import { costOf } from './cost.ts'
import { finish } from './finish.ts'
import type { EngineOptions } from './options.ts'
import { currentCall, forwarded, inherited } from './parent.ts'
import { recall } from './recall.ts'
import { readerLeft, recorded } from './record.ts'
import { currentSpan } from './span.ts'
import { isToStop, settingsOfStep } from './step-settings.ts'
import { steered } from './take-steering.ts'
import { addTakenUp, takeUp } from './take-up.ts'
import { toTheEnd } from './to-the-end.ts'
import { readTurn } from './turn-reader.ts'
import { promptHook, stopHook } from './turn-hooks.ts'
import { addSaid, beginTurn, conversationAfter, DEFAULT_MAX_STEPS, startOf, toolsContext } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * Answers a question and streams everything that happens on the way. The last event is `complete`, `cancelled` or `error`; nothing is
 * thrown once the first event is there. Leaving the generator early cancels the turn.
 *
 * @throws ConfigurationError at once, before any request is made, when the options are wrong.
 */
export function query(options: EngineOptions): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  checkOptions(options)
  const caller = currentCall()
  const batch = currentBatch(caller)
  const own = inheritedOfBatch(inherited(options, caller), batch)
  const parent = options.span ?? currentSpan()
  return readTurn(() => {
    const turn = beginTurn(own, parent, caller, batch)
    const events = recorded(toTheEnd(turn, steps(turn)), turn)
    const leave = (): void => turn.end(readerLeft())
    return { events: caller === undefined ? events : forwarded(events, caller), signal: turn.ctx.signal, leave }
  })
}

async function* steps(turn: Turn): Station<QueryResult> {
  const { ctx, options } = turn
  const maxSteps = options.maxSteps ?? DEFAULT_MAX_STEPS
  yield startOf(turn)
  yield* options.notices ?? []
  yield* firstSwitch(turn)
  yield* recall(turn)
  let taken = yield* takeUp(turn)
  yield* promptHook(turn)

  for (;;) {
    ctx.signal.throwIfAborted()
    turn.step++
    addSaid(turn, yield* steered(turn))
    const settings = yield* settingsOfStep(turn)
    const answer = taken?.answer ?? (yield* prepareAndAsk(turn, settings))
    if (taken === undefined) yield* say(answer, turn)

    const calls = answer.message.toolCalls ?? []
    if (answer.paused && calls.length === 0 && turn.step < maxSteps) {
      turn.conversation = conversationAfter(turn, settings, answer, [])
      continue
    }
    if (calls.length === 0 || options.executeTools === false || wasCut(answer)) {
      const isWhole = calls.length === 0 && !wasCut(answer) && turn.step < maxSteps
      const more = isWhole ? yield* stopHook(answer, turn) : undefined
      if (!isWhole || (more === undefined && !isSteered(turn))) return yield* finish(answer, turn)
      turn.conversation = conversationAfter(turn, settings, answer, [])
      if (more !== undefined) addSaid(turn, [more])
      continue
    }

    // Most turns call no tool: the station with its permission rules is loaded by the first that does.
    const { runTools } = await import('../tools/run.ts')
    const { messages: results, waiting } = yield* runTools(calls, toolsContext(turn, settings, taken?.decided))
    yield { type: 'note', entry: { type: 'messages', step: turn.step, messages: results } }
    if (waiting.length > 0) return yield* finish(answer, turn, 'waiting', waiting)
    if (taken === undefined) turn.conversation = conversationAfter(turn, settings, answer, results)
    else addTakenUp(turn, results)
    taken = undefined
    if (await isToStop(turn, answer.message, results)) return yield* finish(answer, turn, 'stop-when')
    if (turn.step >= maxSteps) return yield* finish(answer, turn, 'max-steps')
  }
}

/** The answer is there, but the user has said something that the model has not read. */
function isSteered({ options }: Turn): boolean {
  return (options.steering?.waiting.length ?? 0) > 0
}

/** Nobody knows what else it would have said: its calls may be half of what was meant, and are not run. */
function wasCut({ finishReason }: Answer): boolean {
  return finishReason === 'length' || finishReason === 'content-filter'
}

/** A model that failed a moment ago is not asked first, nor is one that cannot do what the turn asks for in particular. */
function* firstSwitch(turn: Turn): Generator<EventBody> {
  const { model, specialist } = turn.options
  const first = currentModel(turn.chain)
  if (first === model) return
  const rest = first === specialist ? undefined : turn.ctx.coolDowns?.restOf(model)
  const reason = first === specialist ? 'specialized_task' : (rest?.reason ?? 'default')
  const failed = rest?.error === undefined ? {} : { error: rest.error }
  yield { type: 'model_switch', from: model.ref, to: first.ref, reason, ...failed }
}

/** Tells what a step came to. */
async function* say(answer: Answer, { options }: Turn): Station<void> {
  const costUsd = answer.cacheHit ? 0 : costOf(answer.usage, answer.model.facts.price ?? undefined)
  yield { type: 'usage', usage: answer.usage, costUsd }
  try {
    unheard(options.onUpdateUsage?.(answer.usage))
  } catch (thrown) {
    yield { type: 'notice', code: 'callback_failed', message: `onUpdateUsage threw: ${toCriaError(thrown).message}` }
  }
  yield { type: 'message', message: answer.message }
}
