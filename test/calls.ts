/** Runs turns in which a scripted model calls tools. */

import type { EventOf, QueryEvent } from '../src/core/event.ts'
import type { Json } from '../src/core/json.ts'
import type { Tool, ToolResources } from '../src/core/tool.ts'
import type { EngineOptions } from '../src/engine/options.ts'
import { query } from '../src/engine/query.ts'
import { ScriptedModel } from '../src/providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../src/providers/scripted/scripted-model.ts'

export interface Call {
  readonly id?: string
  readonly name: string
  readonly input?: Json
}

/** Returns a model that makes these calls, step by step, and then answers that it is done. */
export function calling(...steps: (readonly Call[])[]): ScriptedModel {
  const answers = steps.map((calls, step): ScriptedAnswer => ({
    toolCalls: calls.map(({ id, name, input }, index) => ({ id: id ?? `c${step}${index}`, name, input: input ?? {} })),
  }))
  return new ScriptedModel([...answers, 'Done.'])
}

export function tool(
  name: string,
  call: Tool<Record<string, unknown>>['call'],
  more: Partial<Tool<Record<string, unknown>>> = {},
): Tool {
  return { name, description: name, inputSchema: { type: 'object' }, needsPermission: false, ...more, call }
}

/** Returns a tool that conflicts with no call that declares its resources. */
export const free: { readonly resources: () => ToolResources } = { resources: () => ({}) }

export async function collect(options: EngineOptions): Promise<QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of query({ prompt: 'Go', ...options })) events.push(event)
  return events
}

export function all<Type extends QueryEvent['type']>(events: readonly QueryEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}

export const resultsOf = (events: readonly QueryEvent[]): string[] =>
  all(events, 'tool_result').map(({ result }) => result.content)
export const idsOf = (events: readonly QueryEvent[]): string[] => all(events, 'tool_result').map(({ result }) => result.id)

/** Returns the tool results in the second request to the model. */
export function resultsSentTo(model: ScriptedModel, request = 1): [string, string][] {
  const messages = model.requests[request]?.messages ?? []
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.id, part.content] as [string, string]] : [])),
  )
}

export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}
