/**
 * Station 3: permit, then run.
 *
 *     requests ─► known? fits? ─► may it run? ─► run ─► results, in the order of the calls
 *
 * A turn that ends in the middle leaves calls open; the recorder tap answers those.
 */

import type { Station } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import { orAborted } from '../util/abort.ts'
import { notRun } from './call.ts'
import type { Job, ToolsContext } from './call.ts'
import { footprintOf } from './conflicts.ts'
import { findTool, noSuchTool } from './find-tool.ts'
import { Step } from './step.ts'
import { validated } from './validate.ts'

/**
 * Yields all requests, then decisions, progress and results as they come; returns the results as messages, in the order of the calls.
 *
 * @throws CriaError `tool_failure` when three steps in a row held no call that could be run; the reason of the signal when it is aborted.
 */
export async function* runTools(calls: readonly ToolCallPart[], ctx: ToolsContext): Station<Message[]> {
  for (const { id, name, input } of calls) yield { type: 'tool_request', tool: { id, name, input } }
  const step = new Step(calls, ctx)
  const jobs: Job[] = []
  for (const [index, call] of calls.entries()) {
    const job = await orAborted(prepared(call, index, ctx), ctx.signal)
    if ('problem' in job) yield* step.answer(index, notRun(call, job.problem))
    else jobs.push(job)
  }
  yield* ctx.safeMode ? step.oneByOne(jobs) : step.together(jobs)
  ctx.signal.throwIfAborted()
  return step.end()
}

async function prepared(call: ToolCallPart, index: number, { tools }: ToolsContext): Promise<Job | { readonly problem: string }> {
  const tool = findTool(call.name, tools)
  if (tool === undefined) return { problem: noSuchTool(call.name, tools) }
  const fit = await validated(call, tool)
  if ('problem' in fit) return fit
  const { input } = fit
  return { index, call, tool, given: call.input, input, footprint: footprintOf(tool, input), phase: 'asking' }
}
