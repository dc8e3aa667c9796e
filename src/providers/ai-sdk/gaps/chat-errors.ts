/**
 * Chat Completions: OpenRouter reports an error of its upstream inside a choice, where the package does not look.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, ErrorBody, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatErrors: CreateGap = () => ({
  markers: ['"error":'],
  event(event) {
    const error = errorInChoice(event)
    return error === undefined ? 'keep' : { replace: { error } }
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
