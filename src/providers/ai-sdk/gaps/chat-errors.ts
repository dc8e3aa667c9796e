/**
 * Chat Completions: OpenRouter reports an error of its upstream inside a choice, where the package does not look; and an `"error": null`
 * or `""` beside the choices, which some servers send with each chunk, makes the package drop the chunk.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, ErrorBody, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatErrors: CreateGap = () => ({
  markers: ['"error":'],
  event(event) {
    const error = errorInChoice(event)
    if (error !== undefined) return { replace: { error } }
    return 'error' in event && (event['error'] ?? '') === '' ? { replace: withoutError(event) } : 'keep'
  },
  body(body) {
    const error = errorInChoice(body)
    if (error !== undefined) throw new ErrorBody({ error })
    return body
  },
})

function errorInChoice(answer: JsonObject): JsonObject | undefined {
  const error = asObject(objectsIn(answer['choices'])[0]?.['error'])
  return error === undefined ? undefined : { message: 'The upstream of the provider failed.', ...error }
}

function withoutError({ error: _, ...event }: JsonObject): JsonObject {
  return event
}
