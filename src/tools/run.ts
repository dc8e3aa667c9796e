/**
 * Station 3: permit, then run.
 *
 *     requests ─► known? fits? ─► may it run? ─► run ─► results, in the order of the calls
 *
 * A turn that ends in the middle leaves calls open; the recorder tap answers those.
 */

import type { Station } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import type { Json } from '../core/json.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { PermissionRequest, RepairToolCall } from '../core/tool.ts'
import { orAborted } from '../util/promise.ts'
import { redact } from '../util/redact.ts'
import { notRun } from './call.ts'
import type { Job, ToolsContext } from './call.ts'
import { footprintOf } from './conflicts.ts'
import { findTool, noSuchTool } from './find-tool.ts'
import { askHook } from './hooks.ts'
import { messageOf } from './output.ts'
import { Step } from './step.ts'
import { validated } from './validate.ts'

/**
 * Yields all requests, then decisions, progress and results as they come; returns the results as messages, in the order of the calls,
 * and what was asked about calls that wait for a decision.
 *
 * @throws CriaError `tool_failure` when three steps in a row held no call that could be run; the reason of the signal when it is aborted.
 */
export async function* runTools(calls: readonly ToolCallPart[], ctx: ToolsContext): Station<StepResults> {
  for (const { id, name, input } of calls) yield { type: 'tool_request', tool: { id, name, input } }
  const step = new Step(calls, ctx)
  const jobs: Job[] = []
  for (const [index, call] of calls.entries()) {
    const job = yield* hooked(yield* mended(await orAborted(prepared(call, index, ctx), ctx.signal), call, index, ctx), ctx)
    if ('refused' in job) yield* step.refuseBy(index, notRun(call, `Refused by a hook: ${job.refused}`))
    else if ('problem' in job) yield* step.answer(index, notRun(call, job.problem))
    else jobs.push(job)
  }
  yield* ctx.safeMode ? step.oneByOne(jobs) : step.together(jobs)
  ctx.signal.throwIfAborted()
  const waiting = yield* step.leaveWaiting(jobs)
  return { messages: step.end(), waiting }
}

export interface StepResults {
  readonly messages: readonly Message[]
  /** Empty unless calls wait. */
  readonly waiting: readonly PermissionRequest[]
}

interface Misfit {
  readonly problem: string
}

/** A call that does not fit, as the application mends it. */
async function* mended(job: Job | Misfit, call: ToolCallPart, index: number, ctx: ToolsContext): Station<Job | Misfit> {
  if (!('problem' in job) || ctx.repair === undefined) return job
  const { id, name, input } = call
  const { repair, tools, signal } = ctx
  try {
    const asked = async (): Promise<Awaited<ReturnType<RepairToolCall>>> =>
      repair({ id, name, input, problem: job.problem }, { tools, signal })
    const given = await orAborted(asked(), signal)
    if (given === undefined || given === null) return job
    const { invalid: _, ...rest } = call
    const repaired = await orAborted(prepared({ ...rest, name: given.name ?? name, input: given.input }, index, ctx), signal)
    if ('problem' in repaired) return job
    yield {
      type: 'notice',
      code: 'call_repaired',
      message: `A call of ${JSON.stringify(name)} did not fit and was repaired.`,
      details: { id, problem: job.problem, name: repaired.tool.name, input: given.input },
    }
    return repaired
  } catch (thrown) {
    signal.throwIfAborted()
    yield { type: 'notice', code: 'callback_failed', message: `repairToolCall threw: ${redact(messageOf(thrown))}` }
    return job
  }
}

/** A call as the hook of the application lets it pass. */
async function* hooked(job: Job | Misfit, ctx: ToolsContext): Station<Job | Misfit | { readonly refused: string }> {
  if ('problem' in job) return job
  const { call, tool, given } = job
  const outcome = await askHook('onToolCall', ctx.hooks, { id: call.id, name: tool.name, input: given }, 'input', ctx, call.id)
  if (outcome.kind === 'unchanged') return job
  yield outcome.event
  if (outcome.kind === 'refused') return { refused: outcome.reason }
  const fit = await orAborted(validated({ name: call.name, input: outcome.value as Json }, tool), ctx.signal)
  if ('problem' in fit) return { refused: `The changed input does not fit. ${fit.problem}` }
  return { ...job, given: outcome.value as Json, input: fit.input, footprint: footprintOf(tool, fit.input) }
}

async function prepared(call: ToolCallPart, index: number, { tools }: ToolsContext): Promise<Job | { readonly problem: string }> {
  const tool = findTool(call.name, tools)
  if (tool === undefined) return { problem: noSuchTool(call.name, tools) }
  const fit = await validated(call, tool)
  if ('problem' in fit) return fit
  const { input } = fit
  return { index, call, tool, given: call.input, input, footprint: footprintOf(tool, input), phase: 'asking' }
}
