/** Station 3: permit, then run. A turn that ends in the middle leaves calls open; the recorder tap answers those. */

import type { Station } from '../core/context.ts'
import { toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { ToolResult } from '../core/tool.ts'
import type { ToolsContext } from './call.ts'
import { permit } from './permit.ts'
import { runTool } from './run-tool.ts'
import { validated } from './validate.ts'

/** Yields all requests, then decisions and results as they come; returns the results as messages, in the order of the calls. */
export async function* runTools(calls: readonly ToolCallPart[], ctx: ToolsContext): Station<Message[]> {
  const results: Message[] = []
  for (const { id, name, input } of calls) yield { type: 'tool_request', tool: { id, name, input } }
  for (const call of calls) {
    const result = yield* settle(call, ctx)
    yield { type: 'tool_result', result }
    const { id, name, content, isError } = result
    results.push(toolResult({ id, name, content, isError }))
  }
  return results
}

async function* settle(call: ToolCallPart, ctx: ToolsContext): Station<ToolResult> {
  ctx.signal.throwIfAborted()
  const tool = ctx.tools.find(({ name }) => name === call.name)
  if (tool === undefined) {
    const known = ctx.tools.map(({ name }) => name).join(', ')
    return failed(
      call,
      `There is no tool called ${JSON.stringify(call.name)}. ${known === '' ? 'No tools are offered.' : `The tools are: ${known}.`}`,
    )
  }
  const checked = await validated(call, tool)
  if ('problem' in checked) return failed(call, checked.problem)

  const decision = yield* permit({ call, tool, input: checked.input }, ctx)
  if (!decision.granted) return failed(call, `Permission denied: ${decision.reason} Try another way, or ask the user.`)
  return yield* runTool({ call, tool, input: decision.input }, ctx)
}

function failed({ id, name }: ToolCallPart, content: string): ToolResult {
  return { id, name, content, isError: true, durationMs: 0 }
}
