/**
 * Chat Completions: after a finish reason only usage and `[DONE]` follow. A connection that breaks between them has lost nothing of the answer,
 * but the package takes it for a broken one; and an event between them that it does not understand makes it forget the reason.
 */

import { asString, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatFinish: CreateGap = (notes) => ({
  markers: ['"finish_reason":"', '"finish_reason": "'],
  event(event) {
    const reason = asString(objectsIn(event['choices'])[0]?.['finish_reason'])
    if (reason === undefined || reason === '') return 'keep'
    notes.complete = true
    notes.rawReason = reason
    return 'keep'
  },
})
