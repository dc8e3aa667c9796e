/**
 * The tools station: runs the calls of one step.
 *
 *     requests ─► known? fits? ─► may it run? ─► run ─► results, in the order of the calls
 *
 * A turn that is aborted leaves calls without results; the recorder tap adds those.
 */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import { toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { PermissionRequest, ToolResult } from '../core/tool.ts'
import { orAborted } from '../util/promise.ts'
import { notRun } from './call.ts'
import type { FittingCall, Outcome, ToolsContext } from './call.ts'
import { askHook } from './hooks.ts'
import { judgeCall } from './permissions/judge.ts'
import type { Asked, Settled } from './permissions/judge.ts'
import { ask, cannotWait } from './permissions/permit.ts'
import { prepareCall } from './prepare-call.ts'
import { DEFAULT_MAX_RESULT_CHARS, runTool } from './run-tool.ts'
import { sideBySide, startable } from './schedule.ts'
import type { Phase, Scheduled } from './schedule.ts'
import { repeatedPeriod, withStep } from './state.ts'

/** Characters of all results of a step; each call has at least 1,000. */
const MAX_STEP_CHARS = 400_000
const LEAST_RESULT_CHARS = 1000
/** Steps in a row in which no call could be run, before the turn ends. */
const MAX_FUTILE_STEPS = 3

export interface StepResults {
  readonly messages: readonly Message[]
  /** Open permission requests; empty unless calls wait. */
  readonly waiting: readonly PermissionRequest[]
}

/**
 * Yields all requests, then decisions, progress and results as they arrive. Returns the results as messages, in the order of the
 * calls, and the permission requests of calls that wait for a decision.
 *
 * @throws CriaError `tool_failure` after three steps in a row without a call that could run; the reason of the signal when it is aborted.
 */
export async function* runTools(calls: readonly ToolCallPart[], ctx: ToolsContext): Station<StepResults> {
  for (const { id, name, input } of calls) yield { type: 'tool_request', tool: { id, name, input } }
  return yield* new Step(calls, ctx).run()
}

type ResultEvents<Returned> = Generator<{ type: 'tool_result'; result: ToolResult }, Returned, undefined>

/** A call that fits its schema, and its progress. */
interface Slot extends Scheduled {
  readonly fitting: FittingCall
  /** The permission request, when its answer will arrive later. */
  readonly waits?: PermissionRequest
}

class Step {
  readonly #ctx: ToolsContext
  readonly #calls: readonly ToolCallPart[]
  readonly #outcomes: (Outcome | undefined)[]
  readonly #slots = new Map<number, Slot>()
  readonly #period: number | undefined
  readonly #waiting = new Set<number>()
  /** Calls that ran or could have run. A refusal by the user or the application is not the model's fault, so it counts. */
  #sensible = 0

  constructor(calls: readonly ToolCallPart[], ctx: ToolsContext) {
    this.#ctx = ctx
    this.#calls = calls
    this.#outcomes = calls.map(() => undefined)
    ctx.state.steps = withStep(ctx.state.steps, calls)
    this.#period = repeatedPeriod(ctx.state.steps)
  }

  async *run(): Station<StepResults> {
    for (const [index, call] of this.#calls.entries()) {
      const prepared = yield* prepareCall(call, index, this.#ctx)
      if ('refused' in prepared) {
        this.#sensible++
        yield* this.#answer(index, notRun(call, `Refused by a hook: ${prepared.refused}`))
      } else if ('problem' in prepared) yield* this.#answer(index, notRun(call, prepared.problem))
      else this.#put(prepared, 'asking')
    }
    yield* this.#ctx.safeMode ? this.#oneByOne() : this.#together()
    this.#ctx.signal.throwIfAborted()
    const waiting = yield* this.#leaveWaiting()
    return { messages: this.#messages(), waiting }
  }

  #put(fitting: FittingCall, phase: Phase, waits?: PermissionRequest): void {
    const { index, footprint } = fitting
    this.#slots.set(index, { fitting, phase, footprint, ...(waits === undefined ? {} : { waits }) })
  }

  *#answer(index: number, outcome: Outcome): ResultEvents<void> {
    this.#outcomes[index] = outcome
    yield { type: 'tool_result', result: outcome.result }
  }

  /** Safe mode: asks about each call and runs it to its end before it looks at the next one. */
  async *#oneByOne(): Station<void> {
    for (const index of this.#slots.keys()) {
      const asked = yield* this.#judge(index)
      if (asked.length > 0) yield* this.#ask(asked)
      const { fitting, phase, waits } = this.#slots.get(index) as Slot
      if (waits !== undefined) return
      if (phase === 'ready') yield* this.#runCall(fitting)
    }
  }

  /** Starts calls that need no permission at once, and asks about all others together meanwhile. */
  async *#together(): Station<void> {
    const asked = yield* this.#judge(...this.#slots.keys())
    let questions = asked.length === 0 ? [] : [this.#askMeanwhile(asked)]
    yield* sideBySide(() => {
      const asking = questions
      questions = []
      return this.#ctx.signal.aborted ? [] : [...this.#start(), ...asking]
    })
  }

  /** Asks for permission while other calls run. When the turn is aborted, an open question must not discard their results. */
  async *#askMeanwhile(asked: readonly Asked[]): Station<void> {
    try {
      yield* this.#ask(asked)
    } catch (thrown) {
      if (!this.#ctx.signal.aborted) throw thrown
    }
  }

  #start(): Station<void>[] {
    return startable([...this.#slots.values()], this.#ctx.concurrency).map(({ fitting }) => {
      this.#put(fitting, 'running')
      return this.#runCall(fitting)
    })
  }

  /** Lets the rules decide; returns the calls that need an answer from the user. */
  async *#judge(...indexes: readonly number[]): Station<Asked[]> {
    const asked: Asked[] = []
    const settled: Settled[] = []
    for (const index of indexes) {
      const { fitting } = this.#slots.get(index) as Slot
      const ruling = await orAborted(judgeCall(fitting, this.#period, this.#ctx), this.#ctx.signal)
      if (ruling.verdict === 'ask') asked.push(ruling)
      else settled.push(ruling)
    }
    yield* this.#apply(settled, this.#period === undefined)
    return asked
  }

  async *#ask(asked: readonly Asked[]): Station<void> {
    const settled = yield* ask(asked, this.#ctx)
    // The request reported a repetition: an answer that allows the call restarts the count.
    if (this.#period !== undefined && settled.some(({ verdict }) => verdict !== 'refuse')) this.#ctx.state.steps = []
    yield* this.#apply(settled, true)
  }

  /** Applies decisions, after their event is stored. @param isSensible a refused call could have run. */
  async *#apply(settled: readonly Settled[], isSensible: boolean): Station<void> {
    const decisions = settled.flatMap((each) => (each.verdict === 'wait' ? [] : (each.decision ?? [])))
    if (decisions.length > 0) yield { type: 'permission_decision', decisions }
    for (const each of settled) {
      if (each.verdict === 'wait' || each.notice === undefined) continue
      const { noticed } = this.#ctx.state
      if (!noticed.has(each.notice.message)) yield each.notice
      noticed.add(each.notice.message)
    }
    for (const each of settled) {
      if (each.verdict === 'run') this.#put(each.fitting, 'ready')
      if (each.verdict === 'wait') this.#put(each.fitting, 'asking', each.request)
    }
    for (const each of settled) {
      if (each.verdict !== 'refuse') continue
      const { call, index } = each.fitting
      this.#put(each.fitting, 'over')
      if (isSensible) this.#sensible++
      const reason = sentence(each.decision.reason)
      const advice = each.notice === undefined ? 'Try another way, or ask the user.' : 'Try another way.'
      yield* this.#answer(index, notRun(call, `Permission denied: ${reason} ${advice}`))
    }
  }

  async *#runCall(fitting: FittingCall): Station<void> {
    this.#sensible++
    const { tool, index } = fitting
    const share = Math.max(LEAST_RESULT_CHARS, Math.floor(MAX_STEP_CHARS / this.#calls.length))
    const outcome = yield* runTool(fitting, Math.min(tool.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS, share), this.#ctx)
    this.#put(fitting, 'over')
    this.#ctx.state.untrusted = true
    yield* this.#answer(index, yield* this.#hooked(fitting, outcome))
  }

  /** Lets the hook `onToolResult` change or withhold the result. The call has had its effects in any case. */
  async *#hooked({ call, given }: FittingCall, outcome: Outcome): Station<Outcome> {
    const { result } = outcome
    if (this.#ctx.signal.aborted) return outcome
    const asked = await askHook('onToolResult', this.#ctx.hooks, { ...result, input: given }, 'content', this.#ctx, call.id)
    if (asked.kind === 'unchanged') return outcome
    yield asked.event
    if (asked.kind === 'refused') {
      const content = `The call ran. Its result was withheld by a hook: ${asked.reason}`
      return { result: { ...result, content, isError: true }, attachments: [] }
    }
    const content = typeof asked.value === 'string' ? asked.value : JSON.stringify(asked.value)
    // The hook does not see attachments: they may hold what it removed from the text.
    return { result: { ...result, content }, attachments: [] }
  }

  /** Ends, for this turn, calls that wait for a decision and later calls that conflict with them. @returns the open requests. */
  *#leaveWaiting(): ResultEvents<PermissionRequest[]> {
    const slots = [...this.#slots.values()]
    const asked = slots.flatMap(({ waits }) => waits ?? [])
    if (asked.length === 0) return asked
    this.#sensible++
    for (const { fitting } of slots) {
      const { call, index } = fitting
      if (this.#outcomes[index] !== undefined) continue
      const obstacle = cannotWait(fitting, this.#ctx)
      if (obstacle !== undefined) {
        yield* this.#answer(index, notRun(call, `Not run: an earlier call of this step waits for a decision. ${obstacle}`))
        continue
      }
      const { result } = notRun(call, 'Not run yet: it waits for a decision.')
      this.#waiting.add(index)
      yield { type: 'tool_result', result: { ...result, waiting: true } }
    }
    return asked
  }

  /** Returns result messages for the model, in the order of the calls, without calls that wait. */
  #messages(): Message[] {
    const { state } = this.#ctx
    const outcomes = this.#outcomes.filter((outcome) => outcome !== undefined)
    if (outcomes.length + this.#waiting.size < this.#calls.length)
      throw new CriaError('internal', 'A tool call was left without a result.')
    state.futile = this.#sensible > 0 ? 0 : state.futile + 1
    if (state.futile >= MAX_FUTILE_STEPS) throw futile(outcomes)
    return outcomes.map(({ result: { id, name, content, isError }, attachments }) =>
      toolResult({ id, name, content, isError, ...(attachments.length === 0 ? {} : { attachments }) }),
    )
  }
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`
}

function futile(outcomes: readonly Outcome[]): CriaError {
  const last = outcomes.at(-1)?.result
  return new CriaError(
    'tool_failure',
    `The model called tools in a way that cannot work, ${MAX_FUTILE_STEPS} times in a row. The last call, of ${JSON.stringify(last?.name)}: ${last?.content}`,
    { hint: 'Use a model that is better at calling tools, or make the names and schemas of the tools simpler.' },
  )
}
