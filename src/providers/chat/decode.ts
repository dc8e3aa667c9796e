/**
 * Decodes answers of Chat Completions, and the variants of other servers: reasoning under two names, usage in a choice or in `x_groq`,
 * `function_call`, arguments as objects, a whole message instead of deltas, `[DONE]` without a finish reason, and errors inside a choice.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { isErrorReport, ReportedError } from '../errors/reported.ts'
import { asArray, asObject, asString, objectsIn } from '../wire/json.ts'
import { callsIn, createCalls } from './calls.ts'

export { readChatUsage as readUsage } from '../answer/usage.ts'

const THINKING = 'reasoning'

export function decode(answer: Answer): Decoder {
  const calls = createCalls(answer)
  /** Index of the choice that is read, the first to begin; the pieces of several choices arrive interleaved. */
  let ours: number | undefined

  function event(event: JsonObject): void {
    // Nearly every event is a text delta in a single choice.
    const choice = choiceIn(event['choices'])
    if (choice?.['error'] !== undefined) throw failedUpstream(choice['error'])
    if (isErrorReport(event)) throw new ReportedError(event)
    answer.response(event['id'], event['model'])
    noteUsage(event, choice)
    if (choice === undefined) return
    const delta = asObject(choice['delta']) ?? asObject(choice['message'])
    if (delta !== undefined) readDelta(delta)
    const reason = asString(choice['finish_reason'])
    if (reason === undefined || reason === '') return
    answer.rawReason = reason
    answer.complete = true
  }

  function choiceIn(choices: unknown): JsonObject | undefined {
    for (const choice of asArray(choices)) {
      const object = asObject(choice)
      if (object === undefined) continue
      const index = typeof object['index'] === 'number' ? object['index'] : 0
      ours ??= index
      if (index === ours) return object
    }
    return undefined
  }

  function noteUsage({ usage, x_groq: groq }: JsonObject, choice: JsonObject | undefined): void {
    if (choice?.['usage'] !== undefined) answer.usage(choice['usage'])
    if (groq !== undefined) answer.usage(asObject(groq)?.['usage'])
    if (usage !== undefined) answer.usage(usage)
  }

  function readDelta(delta: JsonObject): void {
    const thinking = said(delta['reasoning_content']) ?? said(delta['reasoning'])
    if (thinking !== undefined) answer.think(THINKING, thinking)
    readContent(delta['content'])
    const refusal = said(delta['refusal'])
    if (refusal !== undefined) {
      answer.refused = true
      answer.text(refusal)
    }
    if (delta['tool_calls'] !== undefined || delta['function_call'] !== undefined) calls.add(callsIn(delta))
  }

  /** Mistral streams lists of parts, thinking among them. */
  function readContent(content: unknown): void {
    if (typeof content === 'string') return answer.text(content)
    for (const part of objectsIn(content)) {
      if (part['type'] === 'thinking')
        for (const thought of objectsIn(part['thinking'])) answer.think(THINKING, asString(thought['text']) ?? '')
      else answer.text(asString(part['text']) ?? '')
    }
  }

  return {
    event,
    whole(body) {
      const choice = choiceIn(body['choices'])
      if (choice?.['error'] !== undefined) throw failedUpstream(choice['error'])
      answer.response(body['id'], body['model'])
      noteUsage(body, choice)
      const message = asObject(choice?.['message']) ?? asObject(choice?.['delta']) ?? {}
      readDelta({ ...message, tool_calls: undefined, function_call: undefined })
      for (const call of callsIn(message)) {
        const { id, name, input } = call
        answer.call(id ?? '', name ?? '', input, call.data)
      }
      answer.rawReason = asString(choice?.['finish_reason'])
    },
    end: calls.end,
  }
}

function failedUpstream(error: Json): ReportedError {
  return new ReportedError({ error: { message: 'The upstream of the provider failed.', ...asObject(error) } })
}

function said(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
