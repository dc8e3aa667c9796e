/**
 * Responses: the package does not say how the response ended in the provider's own word (`status`), takes deltas that come after the
 * end for part of the answer, and fails the end of a stream whose usage is not spelled as OpenAI spells it.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, asString, noteUsage } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

const ENDS = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed'])

export const responsesEnd: CreateGap = (notes) => {
  const note = (response: JsonObject): void => {
    notes.rawReason = asString(asObject(response['incomplete_details'])?.['reason']) ?? asString(response['status'])
    notes.model = asString(response['model']) ?? notes.model
    noteUsage(notes, response['usage'])
  }
  return {
    markers: ['response.completed', 'response.incomplete', 'response.failed'],
    event(event) {
      const response = asObject(event['response'])
      if (!ENDS.has(event['type']) || response === undefined) return 'keep'
      note(response)
      notes.ended = true
      // The end says once more all that was said; none of it is needed a second time.
      return {
        replace: {
          type: event['type'],
          sequence_number: event['sequence_number'] ?? 0,
          response: { incomplete_details: response['incomplete_details'], error: response['error'] },
        },
      }
    },
    body(body) {
      note(body)
      const { usage: _, ...rest } = body
      return rest
    },
  }
}
