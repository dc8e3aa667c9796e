/** Prepares a call for its decision: finds the tool, checks the input, and lets the application repair or change it. */

import type { Station } from '../core/context.ts'
import type { Json } from '../core/json.ts'
import type { ToolCallPart } from '../core/part.ts'
import { isStandardSchema, issueLine } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { schemaProblems } from '../util/json-schema.ts'
import { nearest } from '../util/nearest.ts'
import { orAborted } from '../util/promise.ts'
import { redact } from '../util/redact.ts'
import type { FittingCall, ToolsContext } from './call.ts'
import { askHook } from './hooks.ts'
import { messageOf, shortened } from './output.ts'
import { footprintOf } from './schedule.ts'
import { bareName } from './state.ts'

interface Misfit {
  /** Error text for the model, which may try again. */
  readonly problem: string
}

/** `refused`: the reason of a hook of the application that refused the call. */
export type PreparedCall = FittingCall | Misfit | { readonly refused: string }

/** Yields events for changes that the application made to the call. @throws the reason of the signal when it is aborted. */
export async function* prepareCall(call: ToolCallPart, index: number, ctx: ToolsContext): Station<PreparedCall> {
  const fit = await orAborted(fitted(call, ctx.tools), ctx.signal)
  const usable = 'problem' in fit ? yield* repaired(call, fit, ctx) : { ...fit, call }
  if ('problem' in usable) return usable
  const { tool } = usable
  const given = usable.call.input
  const asked = await askHook('onToolCall', ctx.hooks, { id: call.id, name: tool.name, input: given }, 'input', ctx, call.id)
  const common = { index, call: usable.call, tool }
  if (asked.kind === 'unchanged') return { ...common, given, input: usable.input, footprint: footprintOf(tool, usable.input) }
  yield asked.event
  if (asked.kind === 'refused') return { refused: asked.reason }
  const changed = asked.value as Json
  const fitAgain = await orAborted(validated({ name: call.name, input: changed }, tool), ctx.signal)
  if ('problem' in fitAgain) return { refused: `The changed input does not fit. ${fitAgain.problem}` }
  return { ...common, given: changed, input: fitAgain.input, footprint: footprintOf(tool, fitAgain.input) }
}

/** Lets the application repair a call that does not fit. Returns the misfit when it does not repair it, or not correctly. */
async function* repaired(
  call: ToolCallPart,
  misfit: Misfit,
  { repair, tools, signal }: ToolsContext,
): Station<Misfit | (Fit & { readonly call: ToolCallPart })> {
  if (repair === undefined) return misfit
  const { id, name, input, invalid: _, ...rest } = call
  try {
    const asked = (async () => repair({ id, name, input, problem: misfit.problem }, { tools, signal }))()
    const given = await orAborted(asked, signal)
    if (given === undefined || given === null) return misfit
    const changed = { ...rest, id, name: given.name ?? name, input: given.input }
    const fit = await orAborted(fitted(changed, tools), signal)
    if ('problem' in fit) return misfit
    yield {
      type: 'notice',
      code: 'call_repaired',
      message: `A call of ${JSON.stringify(name)} did not fit and was repaired.`,
      details: { id, problem: misfit.problem, name: fit.tool.name, input: given.input },
    }
    return { ...fit, call: changed }
  } catch (thrown) {
    signal.throwIfAborted()
    yield { type: 'notice', code: 'callback_failed', message: `repairToolCall threw: ${redact(messageOf(thrown))}` }
    return misfit
  }
}

type GivenCall = Pick<ToolCallPart, 'name' | 'input' | 'invalid'>

interface Fit {
  readonly tool: Tool
  /** A copy, as the schema parsed it: a tool that changes its input does not change the history. */
  readonly input: unknown
}

/** Returns the tool that a call names and its checked input, or the problem with the call. */
export async function fitted(call: GivenCall, tools: readonly Tool[]): Promise<Fit | Misfit> {
  const tool = findTool(call.name, tools)
  if (tool === undefined) return { problem: noSuchTool(call.name, tools) }
  const fit = await validated(call, tool)
  return 'problem' in fit ? fit : { tool, input: fit.input }
}

export function findTool(name: string, tools: readonly Tool[]): Tool | undefined {
  const bare = bareName(name)
  return tools.find((tool) => tool.name === bare)
}

const MAX_LISTED = 100

function noSuchTool(name: string, tools: readonly Tool[]): string {
  if (tools.length === 0) return `There is no tool called ${JSON.stringify(name)}: no tools are offered. Answer without.`
  const names = tools.map((tool) => tool.name)
  const close = nearest(bareName(name), names)
  const list =
    names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : '')
  const called = name.length > 100 ? `${name.slice(0, 100)}…` : name
  return `There is no tool called ${JSON.stringify(called)}. ${close === undefined ? '' : `Did you mean ${close}? `}The tools are: ${list}.`
}

const MAX_PROBLEMS = 20
const MAX_PROBLEM_CHARS = 4000

/** Checks the input of a call against the schema of its tool. */
export async function validated(call: GivenCall, { name, inputSchema }: Tool): Promise<{ readonly input: unknown } | Misfit> {
  if (call.invalid !== undefined)
    return { problem: `The arguments are not valid JSON (${call.invalid}). Send the call again with a JSON object.` }
  if (typeof call.input !== 'object' || call.input === null || Array.isArray(call.input))
    return { problem: 'The arguments must be a JSON object. Send the call again with one.' }
  try {
    const input: unknown = structuredClone(call.input)
    if (isStandardSchema(inputSchema)) {
      const result = await inputSchema['~standard'].validate(input)
      return result.issues === undefined ? { input: result.value } : misfit(name, result.issues.map(issueLine))
    }
    const problems = schemaProblems(inputSchema, input)
    return problems.length === 0 ? { input } : misfit(name, problems)
  } catch (thrown) {
    return { problem: `The arguments cannot be checked: ${messageOf(thrown)}` }
  }
}

function misfit(name: string, problems: readonly string[]): Misfit {
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []
  const lines = [...problems.slice(0, MAX_PROBLEMS), ...more].map((problem) => `- ${problem}`)
  return { problem: shortened(`The arguments do not fit the schema of ${name}:\n${lines.join('\n')}`, MAX_PROBLEM_CHARS) }
}
