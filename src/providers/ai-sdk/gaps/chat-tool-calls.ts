/**
 * Chat Completions: the package wants the arguments of a call to be a string, and drops the older `function_call`. Servers send objects,
 * null or nothing at all, numbers as ids, calls without an index, and Go servers send an empty `function_call` with every answer.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatToolCalls: CreateGap = () => ({
  markers: ['"tool_calls"', '"function_call"'],
  event(event) {
    const mended = mendChoices(event, 'delta', null)
    return mended === event ? 'keep' : { replace: mended }
  },
  // A whole answer has to name the arguments of every call.
  body: (body) => mendChoices(body, 'message', ''),
})

function mendChoices(answer: JsonObject, member: 'delta' | 'message', noArguments: '' | null): JsonObject {
  const choices = asArray(answer['choices'])
  const mended = choices.map((choice) => {
    const object = asObject(choice)
    const content = asObject(object?.[member])
    if (object === undefined || content === undefined) return choice
    const calls = objectsIn(content['tool_calls'])
    const legacy = calls.length === 0 ? legacyCall(content) : undefined
    if (calls.length === 0 && legacy === undefined) return choice
    return {
      ...object,
      [member]: { ...content, tool_calls: (legacy === undefined ? calls : [legacy]).map((call) => mendCall(call, noArguments)) },
    }
  })
  return mended.some((choice, index) => choice !== choices[index]) ? { ...answer, choices: mended as Json[] } : answer
}

function mendCall(call: JsonObject, noArguments: '' | null): JsonObject {
  const { id, index } = call
  const called = asObject(call['function']) ?? {}
  const given = called['arguments']
  const name = called['name']
  return {
    ...call,
    ...(typeof id === 'number' ? { id: String(id) } : {}),
    ...(typeof index === 'string' ? { index: Number(index) } : {}),
    function: {
      ...called,
      ...(noArguments === '' ? { name: asString(name) ?? '' } : {}),
      arguments: typeof given === 'string' ? given : given === undefined || given === null ? noArguments : JSON.stringify(given),
    },
  }
}

/** The predecessor of tool calls: at most one call, and it has no id. */
function legacyCall(content: JsonObject): JsonObject | undefined {
  const call = asObject(content['function_call'])
  if (call === undefined || ((call['name'] ?? '') === '' && (call['arguments'] ?? '') === '')) return undefined
  return { index: 0, type: 'function', function: call }
}
