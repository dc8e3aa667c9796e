/**
 * Gemini: chunks report usage piecemeal, and the last one may leave out what an earlier one said; the package keeps the last only. It
 * also adds the tokens of provider-run tools to the input, does not name the model that answered, and takes counts left out for 0.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asString, noteUsage } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const geminiUsage: CreateGap = (notes) => {
  const note = (answer: JsonObject): void => {
    noteUsage(notes, answer['usageMetadata'])
    notes.model = asString(answer['modelVersion']) ?? notes.model
  }
  return {
    markers: [],
    event(event) {
      note(event)
      return 'keep'
    },
    body(body) {
      note(body)
      return body
    },
  }
}
