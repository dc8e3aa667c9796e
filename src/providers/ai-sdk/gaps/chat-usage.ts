/**
 * Chat Completions: usage stands in the last chunk, in a chunk without choices, in a choice (Moonshot) or in `x_groq`. The package reads
 * the first two only, and turns a number that was not sent into 0.
 */

import { asObject, noteUsage, objectsIn } from '../../wire/dialect.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { CreateGap } from './gap.ts'

export const chatUsage: CreateGap = (notes) => {
  const note = (answer: JsonObject): void => {
    noteUsage(notes, objectsIn(answer['choices'])[0]?.['usage'])
    noteUsage(notes, asObject(answer['x_groq'])?.['usage'])
    noteUsage(notes, answer['usage'])
  }
  return {
    // Most chunks say `"usage": null`.
    markers: ['"usage":{', '"usage": {'],
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
