/**
 * Chat Completions: usage stands in the last chunk, in a chunk without choices, in a choice (Moonshot) or in `x_groq`. The package reads
 * the first two only, turns a number that was not sent into 0, and drops the chunk, with whatever else it says, for one of another type.
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
    markers: ['{', '[', '"'].flatMap((begin) => [`"usage":${begin}`, `"usage": ${begin}`]),
    event(event) {
      note(event)
      const { usage, ...rest } = event
      return (usage ?? null) === null ? 'keep' : { replace: rest }
    },
    body(body) {
      note(body)
      return body
    },
  }
}
