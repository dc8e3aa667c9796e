/**
 * Responses: some servers stream nothing of a text, or of a call, and tell it only with the end of the response. The package takes text from
 * pieces and calls from items, so an answer of that kind would be empty. What the end tells and nothing told before is told before it.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asObject, asString, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

const TEXT_DELTAS = new Set<Json | undefined>(['response.output_text.delta', 'response.refusal.delta'])

export const responsesLate: CreateGap = () => {
  let hasText = false
  let hasCalls = false
  return {
    markers: ['response.output_item.done', 'response.completed', 'response.incomplete'],
    // Whether a piece of text comes at all is seen by reading until the first one.
    hasBegun: () => hasText,
    event(event) {
      if (TEXT_DELTAS.has(event['type'])) hasText = true
      if (asObject(event['item'])?.['type'] === 'function_call') hasCalls ||= event['type'] === 'response.output_item.done'
      const response = asObject(event['response'])
      if ((event['type'] !== 'response.completed' && event['type'] !== 'response.incomplete') || response === undefined)
        return 'keep'
      const before = objectsIn(response['output']).flatMap((item, index) => {
        // One of an answer that was cut may be cut, too.
        if (item['type'] === 'function_call' && !hasCalls && event['type'] === 'response.completed')
          return [{ type: 'response.output_item.done', output_index: index, item }]
        return item['type'] === 'message' && !hasText ? textOf(item, index) : []
      })
      return before.length === 0 ? 'keep' : { before, replace: event }
    },
  }
}

function textOf(item: JsonObject, output_index: number): JsonObject[] {
  const place = { item_id: item['id'] ?? `item_${output_index}`, output_index, content_index: 0 }
  return objectsIn(item['content']).flatMap((part) => {
    const isRefusal = part['type'] === 'refusal'
    const delta = asString(part[isRefusal ? 'refusal' : 'text']) ?? ''
    return delta === '' ? [] : [{ type: `response.${isRefusal ? 'refusal' : 'output_text'}.delta`, ...place, delta }]
  })
}
