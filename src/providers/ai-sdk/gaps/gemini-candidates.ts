/**
 * Gemini: there is no end mark, so what comes after the chunk with a finish reason is taken for more text. It is the last one, unless the first
 * one had a reason too: old versions of the API put one in each. Evidence (grounding, safety ratings, citations) that nobody here reads is
 * validated by the package so strictly that an odd member of it costs the text beside it; it goes.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

const UNREAD = ['groundingMetadata', 'urlContextMetadata', 'safetyRatings', 'citationMetadata'] as const

export const geminiCandidates: CreateGap = (notes) => {
  let finished: string | undefined
  let inEveryChunk = true
  return {
    markers: [],
    event(event) {
      const candidate = objectsIn(event['candidates'])[0]
      if (candidate === undefined) return 'keep'
      const finishes = typeof candidate['finishReason'] === 'string'
      inEveryChunk &&= finishes
      const said = finishes ? JSON.stringify(candidate) : undefined
      if (finished !== undefined && (!inEveryChunk || said === finished)) {
        const { candidates: _, ...rest } = event
        return { replace: rest }
      }
      finished = said
      notes.complete = finishes
      const mended = mendAnswer(event)
      return mended === event ? 'keep' : { replace: mended }
    },
    body: mendAnswer,
  }
}

function mendAnswer(answer: JsonObject): JsonObject {
  const candidates = objectsIn(answer['candidates'])
  const feedback = asObject(answer['promptFeedback'])
  const odd =
    candidates.some((candidate) => UNREAD.some((name) => name in candidate)) || feedback?.['safetyRatings'] !== undefined
  if (!odd) return answer
  return {
    ...answer,
    candidates: candidates.map((candidate) => without(candidate, UNREAD)),
    ...(feedback === undefined ? {} : { promptFeedback: without(feedback, ['safetyRatings']) }),
  }
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}
