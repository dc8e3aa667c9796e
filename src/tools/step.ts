/** Runs one step of tools: decides, asks, runs and answers each call. */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import { toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { PermissionRequest, ToolResult } from '../core/tool.ts'
import { orAborted } from '../util/promise.ts'
import { sha256 } from '../util/hash.ts'
import { notRun } from './call.ts'
import type { Job, Outcome, ToolsContext } from './call.ts'
import { askHook } from './hooks.ts'
import { sideBySide } from './side-by-side.ts'
import { ask, cannotWait, judgeJob } from './permissions/permit.ts'
import type { Asked, Decision } from './permissions/permit.ts'
import { MAX_PERIOD, repeatedPeriod, REPETITIONS, stepKey } from './repetition.ts'
import { DEFAULT_MAX_RESULT_CHARS, runTool } from './run-tool.ts'
import { startable } from './schedule.ts'

/** Characters of all results of a step together; each call may count on a thousand. */
const MAX_STEP_CHARS = 400_000
const LEAST_RESULT_CHARS = 1000
/** Steps in a row in which no call could be run, before the turn ends. */
const MAX_FUTILE_STEPS = 3

interface Refused {
  readonly job: Job
  readonly decision: Decision
}

export class Step {
  readonly #ctx: ToolsContext
  readonly #calls: readonly ToolCallPart[]
  readonly #outcomes: (Outcome | undefined)[]
  readonly #period: number | undefined
  readonly #waiting = new Set<number>()
  /** Calls that were run, or at least could have been: a refusal of the user is no fault of the model. */
  #sensible = 0

  constructor(calls: readonly ToolCallPart[], ctx: ToolsContext) {
    this.#ctx = ctx
    this.#calls = calls
    this.#outcomes = calls.map(() => undefined)
    const { state } = ctx
    state.steps = [...state.steps, sha256(stepKey(calls))].slice(-MAX_PERIOD * REPETITIONS)
    this.#period = repeatedPeriod(state.steps)
  }

  *answer(index: number, outcome: Outcome): Generator<{ type: 'tool_result'; result: Outcome['result'] }, void, undefined> {
    this.#outcomes[index] = outcome
    yield { type: 'tool_result', result: outcome.result }
  }

  /** Safe mode: each call is asked about, runs and ends before the next one's turn comes. */
  async *oneByOne(jobs: readonly Job[]): Station<void> {
    for (const job of jobs) {
      yield* this.#ask(yield* this.#judge([job]))
      if (job.waits !== undefined) return
      if (job.phase === 'ready') yield* this.#run(job)
    }
  }

  /** What needs no permission starts at once; the others are asked about together meanwhile. */
  async *together(jobs: readonly Job[]): Station<void> {
    const asked = yield* this.#judge(jobs)
    let questions = asked.length === 0 ? [] : [this.#askMeanwhile(asked)]
    yield* sideBySide(() => {
      const asking = questions
      questions = []
      return this.#ctx.signal.aborted ? [] : [...this.#start(jobs), ...asking]
    })
  }

  /** A question that nobody answers any more must not take the results of what still runs with it. */
  async *#askMeanwhile(asked: readonly Asked[]): Station<void> {
    try {
      yield* this.#ask(asked)
    } catch (thrown) {
      if (!this.#ctx.signal.aborted) throw thrown
    }
  }

  #start(jobs: readonly Job[]): Station<void>[] {
    return startable(jobs, this.#ctx.concurrency).map((job) => {
      job.phase = 'running'
      return this.#run(job)
    })
  }

  /** Lets the rules decide; returns what somebody has to be asked about. */
  async *#judge(jobs: readonly Job[]): Station<Asked[]> {
    const asked: Asked[] = []
    const decisions: Decision[] = []
    const refused: Refused[] = []
    for (const job of jobs) {
      const judgement = await orAborted(judgeJob(job, this.#period, this.#ctx), this.#ctx.signal)
      const { verdict, reason, rule } = judgement
      const named = { reason, ...(rule === undefined ? {} : { rule }) }
      const decision = { id: job.call.id, granted: verdict === 'run', ...named }
      if (verdict === 'ask') asked.push({ job, ...named })
      else if (verdict === 'refuse') refused.push({ job, decision })
      else job.phase = 'ready'
      if (verdict === 'refuse' || (verdict === 'run' && judgement.silent !== true)) decisions.push(decision)
    }
    if (decisions.length > 0) yield { type: 'permission_decision', decisions }
    yield* this.#ctx.state.notices.splice(0)
    yield* this.#refuse(refused, this.#period === undefined)
    return asked
  }

  async *#ask(asked: readonly Asked[]): Station<void> {
    if (asked.length === 0) return
    const refused = yield* ask(asked, this.#ctx)
    yield* this.#ctx.state.notices.splice(0)
    // Whoever was told that this is a circle and lets it go on wants it.
    if (this.#period !== undefined && refused.length < asked.length) this.#ctx.state.steps = []
    yield* this.#refuse(refused, true)
  }

  async *#refuse(refused: readonly Refused[], sensible: boolean): Station<void> {
    for (const { job, decision } of refused) {
      job.phase = 'over'
      if (sensible) this.#sensible++
      yield* this.answer(
        job.index,
        notRun(job.call, `Permission denied: ${sentence(decision.reason)} Try another way, or ask the user.`),
      )
    }
  }

  /** A refusal of the application is no fault of the model. */
  *refuseBy(index: number, outcome: Outcome): ReturnType<Step['answer']> {
    this.#sensible++
    yield* this.answer(index, outcome)
  }

  async *#run(job: Job): Station<void> {
    this.#sensible++
    const share = Math.max(LEAST_RESULT_CHARS, Math.floor(MAX_STEP_CHARS / this.#calls.length))
    const outcome = yield* runTool(job, Math.min(job.tool.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS, share), this.#ctx)
    job.phase = 'over'
    this.#ctx.state.untrusted = true
    yield* this.answer(job.index, yield* this.#hooked(job, outcome))
  }

  /** The result as the hook of the application lets it pass; the call has had its effects in any case. */
  async *#hooked({ call, given }: Job, outcome: Outcome): Station<Outcome> {
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
    // The hook has not seen what is attached: what it takes out of the text might stand there.
    return { result: { ...result, content }, attachments: [] }
  }

  /** Ends the calls that wait for a decision, and those that must not overtake them, for this turn; returns what was asked. */
  *leaveWaiting(jobs: readonly Job[]): Generator<{ type: 'tool_result'; result: ToolResult }, PermissionRequest[], undefined> {
    const asked = jobs.flatMap(({ waits }) => waits ?? [])
    if (asked.length === 0) return asked
    this.#sensible++
    for (const job of jobs) {
      if (this.#outcomes[job.index] !== undefined) continue
      const obstacle = cannotWait(job, this.#ctx)
      if (obstacle !== undefined) {
        yield* this.answer(job.index, notRun(job.call, `Not run: an earlier call of this step waits for a decision. ${obstacle}`))
        continue
      }
      this.#waiting.add(job.index)
      yield {
        type: 'tool_result',
        result: { ...notRun(job.call, 'Not run yet: it waits for a decision.').result, waiting: true },
      }
    }
    return asked
  }

  /** The messages for the model, in the order of the calls; none for calls that wait. */
  end(): Message[] {
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
