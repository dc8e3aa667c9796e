/**
 * Chat Completions: the package wants the arguments of a call to be a string, and drops the older `function_call`. Servers send objects,
 * null or nothing at all, numbers as ids, calls without an index, and Go servers send an empty `function_call` with every answer.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString, objectsIn } from '../../wire/dialect.ts'
import { CallNumbers } from './chat-call-numbers.ts'
import type { CreateGap } from './gap.ts'

export const chatToolCalls: CreateGap = () => {
  const numbers = new CallNumbers()
  return {
    markers: ['"tool_calls"', '"function_call"', '"finish_reason":"', '"finish_reason": "'],
    event(event) {
      const [choice, ...others] = objectsIn(event['choices'])
      const delta = asObject(choice?.['delta'])
      if (choice === undefined || delta === undefined) return 'keep'
      const pieces = callsIn(delta).map((call) => mendCall(call, null))
      const isOver = (asString(choice['finish_reason']) ?? '') !== ''
      const calls = [...numbers.number(pieces), ...(isOver ? numbers.nameless() : [])]
      if (pieces.length === 0 && calls.length === 0) return 'keep'
      return { replace: { ...event, choices: [{ ...choice, delta: { ...delta, tool_calls: calls } }, ...others] } }
    },
    body: (body) => ({ ...body, choices: asArray(body['choices']).map(mendChoice) as Json[] }),
  }
}

function mendChoice(choice: unknown): unknown {
  const object = asObject(choice)
  const message = asObject(object?.['message'])
  const calls = message === undefined ? [] : callsIn(message)
  if (object === undefined || calls.length === 0) return choice
  // A whole answer has to name the arguments of every call.
  return { ...object, message: { ...message, tool_calls: calls.map((call) => mendCall(call, '')) } }
}

function callsIn(content: JsonObject): readonly JsonObject[] {
  const calls = objectsIn(content['tool_calls'])
  const legacy = calls.length === 0 ? legacyCall(content) : undefined
  return legacy === undefined ? calls : [legacy]
}

function mendCall(call: JsonObject, noArguments: '' | null): JsonObject {
  const { id, index, function: given, ...rest } = call
  // Some leave out the member around name and arguments.
  const called = asObject(given) ?? rest
  const { name, arguments: input } = called
  return {
    ...call,
    ...(typeof id === 'number' ? { id: String(id) } : {}),
    ...(typeof index === 'string' ? { index: Number(index) } : {}),
    function: {
      ...called,
      ...(noArguments === '' ? { name: asString(name) ?? '' } : {}),
      arguments: typeof input === 'string' ? input : input === undefined || input === null ? noArguments : JSON.stringify(input),
    },
  }
}

/** The predecessor of tool calls: at most one call, and it has no id. */
function legacyCall(content: JsonObject): JsonObject | undefined {
  const call = asObject(content['function_call'])
  if (call === undefined || ((call['name'] ?? '') === '' && (call['arguments'] ?? '') === '')) return undefined
  return { index: 0, type: 'function', function: call }
}
