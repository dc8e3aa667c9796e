/** Google's Gemini API. */

import type { JsonObject } from '../../../core/json.ts'
import type { CreateDialect } from '../../wire/dialect.ts'
import { asObject, asString, objectsIn } from '../../wire/dialect.ts'
import { absorbGemini } from '../absorb.ts'
import { geminiCandidates } from './gemini-candidates.ts'
import { geminiUsage } from './gemini-usage.ts'
import { errorReports } from './error-reports.ts'
import { dialectOf } from './gap.ts'
import { oneAnswer } from './one-answer.ts'

export const geminiDialect: CreateDialect = dialectOf({
  gaps: [oneAnswer('candidates'), errorReports, geminiUsage, geminiCandidates],
  deltas: ['"text"'],
  absorb: absorbGemini,
  essence: (body) => ({
    responseId: asString(body['responseId']) ?? null,
    candidates: objectsIn(body['candidates']).slice(0, 1).map(essentialCandidate),
    promptFeedback: { blockReason: asString(asObject(body['promptFeedback'])?.['blockReason']) ?? null },
  }),
})

function essentialCandidate(candidate: JsonObject): JsonObject {
  const parts = objectsIn(asObject(candidate['content'])?.['parts']).filter((part) => 'text' in part || 'functionCall' in part)
  return { content: { role: 'model', parts }, finishReason: asString(candidate['finishReason']) ?? null }
}
