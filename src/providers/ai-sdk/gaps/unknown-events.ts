/**
 * All APIs: an event of a kind that the package does not know, or one beside the answer that is not spelled as it expects, fails the
 * stream. Such an event is passed over; one that may carry a piece of the answer is not.
 */

import { asArray, asObject, asString } from '../../wire/dialect.ts'
import { isErrorReport } from '../../wire/error-report.ts'

const MESSAGES_DELTAS = new Set(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'])
const MESSAGES_BLOCKS = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])
const RESPONSES_ITEMS = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call'])

/** @param value an event that the package refused. */
export function isBesideTheAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  const event = asObject(value)
  if (event === undefined || isErrorReport(event)) return false
  if (asArray(event['choices']).length > 0 || 'candidates' in event) return false
  const type = asString(event['type']) ?? ''
  switch (type) {
    case 'error':
    case 'message_delta':
    case 'message_stop':
      return false
    case 'content_block_start':
      return !MESSAGES_BLOCKS.has(asString(asObject(event['content_block'])?.['type']) ?? '')
    case 'content_block_delta':
      return !MESSAGES_DELTAS.has(asString(asObject(event['delta'])?.['type']) ?? '')
    case 'response.output_item.added':
    case 'response.output_item.done':
      return !RESPONSES_ITEMS.has(asString(asObject(event['item'])?.['type']) ?? '')
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.function_call_arguments.delta':
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return false
    default:
      return true
  }
}
