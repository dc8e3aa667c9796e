/**
 * Responses: OpenAI streams a summary of the reasoning; other vendors stream the reasoning itself, as `reasoning_text` events and
 * as `content` of the item. The package knows the summary only, so the one is handed to it as the other.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

const SUMMARY = 'response.reasoning_summary_text.delta'

export const responsesReasoning: CreateGap = () => {
  /** An item that sends both is told once: the first kind that came. */
  const kinds = new Map<Json | undefined, 'text' | 'summary'>()
  const isFirst = (event: JsonObject, kind: 'text' | 'summary'): boolean => {
    const known = kinds.get(event['item_id']) ?? kind
    kinds.set(event['item_id'], known)
    return known === kind
  }
  return {
    markers: ['response.reasoning'],
    event(event) {
      switch (event['type']) {
        case SUMMARY:
          return isFirst(event, 'summary') ? 'keep' : 'drop'
        case 'response.reasoning_text.delta':
        case 'response.reasoning.delta': {
          if (!isFirst(event, 'text')) return 'drop'
          const delta = asString(event['delta']) ?? asString(asObject(event['delta'])?.['text']) ?? ''
          // A summary of several parts has to be announced; the reasoning itself is one part, whatever it is made of.
          return {
            replace: { type: SUMMARY, item_id: event['item_id'], output_index: event['output_index'], summary_index: 0, delta },
          }
        }
        default:
          return 'keep'
      }
    },
    body: (body) => ({ ...body, output: asArray(body['output']).map(withSummary) as Json[] }),
  }
}

function withSummary(item: unknown): unknown {
  const reasoning = asObject(item)
  if (reasoning?.['type'] !== 'reasoning') return item
  const summary = objectsIn(reasoning['summary'])
  const text =
    summary.length > 0
      ? []
      : objectsIn(reasoning['content']).map((part) => ({ type: 'summary_text', text: asString(part['text']) ?? '' }))
  return { ...reasoning, summary: [...summary, ...text] }
}
