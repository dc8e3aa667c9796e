/**
 * Gemini: chunks report usage piecemeal, and the last one may leave out what an earlier one said; the package keeps the last only. It
 * also adds the tokens of provider-run tools to the input, does not name the model that answered, takes counts left out for 0, and drops the
 * chunk, with whatever else it says, for one of another type.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, asString, noteUsage } from '../../wire/dialect.ts'
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
      const { usageMetadata, ...rest } = event
      return isSound(usageMetadata) ? 'keep' : { replace: rest }
    },
    body(body) {
      note(body)
      return body
    },
  }
}

function isSound(usage: unknown): boolean {
  if ((usage ?? null) === null) return true
  return Object.entries(asObject(usage) ?? { Count: usage }).every(([name, value]) => {
    if ((value ?? null) === null) return true
    if (name.endsWith('Count')) return typeof value === 'number'
    return !name.endsWith('Details') || Array.isArray(value)
  })
}
