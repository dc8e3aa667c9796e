/** OpenAI's Responses API, as OpenAI and others speak it. */

import type { JsonObject } from '../../../core/json.ts'
import type { CreateDialect } from '../../wire/dialect.ts'
import { asArray, asObject, asString, objectsIn } from '../../wire/dialect.ts'
import { absorbResponses } from '../absorb.ts'
import { errorReports } from './error-reports.ts'
import { dialectOf } from './gap.ts'
import { responsesEnd } from './responses-end.ts'
import { responsesItems } from './responses-items.ts'
import { responsesLate } from './responses-late.ts'
import { responsesReasoning } from './responses-reasoning.ts'

const ESSENTIAL = new Set<unknown>(['message', 'reasoning', 'function_call'])

export const responsesDialect: CreateDialect = dialectOf({
  gaps: [errorReports, responsesReasoning, responsesItems, responsesLate, responsesEnd],
  deltas: ['.delta"'],
  absorb: absorbResponses,
  essence: (body) => ({
    id: asString(body['id']) ?? '',
    created_at: 0,
    model: asString(body['model']) ?? '',
    output: objectsIn(body['output'])
      .filter((item) => ESSENTIAL.has(item['type']))
      .map(essentialItem),
    ...(asObject(body['incomplete_details']) === undefined ? {} : { incomplete_details: body['incomplete_details'] }),
  }),
})

function essentialItem(item: JsonObject): JsonObject {
  const { type, id } = item
  if (type === 'function_call')
    return { type, id, call_id: item['call_id'], name: item['name'], arguments: item['arguments'], status: 'completed' }
  if (type === 'reasoning') {
    const summary = objectsIn(item['summary']).map((part) => ({ type: 'summary_text', text: asString(part['text']) ?? '' }))
    return { type, id, encrypted_content: asString(item['encrypted_content']) ?? null, summary }
  }
  const content = asArray(item['content'])
    .map((part) => asObject(part))
    .filter((part) => part?.['type'] === 'output_text' || part?.['type'] === 'refusal')
  return { type, id, role: 'assistant', content: content as JsonObject[] }
}
