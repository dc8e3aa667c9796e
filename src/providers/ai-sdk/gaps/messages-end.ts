/**
 * Messages: what the answer cost and how it ended stand in `message_delta`; a stream that ends after it, without `message_stop`, is
 * complete, but the package says it was interrupted.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, asString, noteUsage } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const messagesEnd: CreateGap = (notes) => {
  const note = (message: JsonObject | undefined): void => {
    notes.rawReason = asString(message?.['stop_reason']) ?? notes.rawReason
    notes.model = asString(message?.['model']) ?? notes.model
    noteUsage(notes, message?.['usage'])
  }
  return {
    markers: ['message_start', 'message_delta', 'message_stop'],
    event(event) {
      switch (event['type']) {
        case 'message_start':
          note(asObject(event['message']))
          return 'keep'
        case 'message_delta':
          note(asObject(event['delta']))
          noteUsage(notes, event['usage'])
          notes.complete = notes.rawReason !== undefined
          return 'keep'
        case 'message_stop':
          return 'last'
        default:
          return 'keep'
      }
    },
    body(body) {
      note(body)
      return body
    },
    missingEnd: () => (notes.rawReason === undefined ? undefined : { type: 'message_stop' }),
  }
}
