/**
 * All APIs: servers and gateways report an error in the middle of a stream in the words of another API, or in their own, and the package passes
 * over it. The end of the answer that follows, or is missing, would be all that is left of it.
 */

import type { JsonObject } from '../../../core/json.ts'
import type { CreateGap } from './gap.ts'

export const errorReports: CreateGap = () => ({
  markers: ['"object":"error"', '"object": "error"', '"error":{', '"error": {'],
  event(event) {
    return isErrorReport(event) ? { replace: { error: event['error'] ?? event } } : 'keep'
  },
})

/** What an error is told with; an event that has nothing else, and a message, is one. */
const MEMBERS = new Set([
  'message',
  'detail',
  'code',
  'status',
  'statusCode',
  'error_code',
  'param',
  'type',
  'object',
  'request_id',
])

export function isErrorReport(event: JsonObject): boolean {
  if ((event['error'] ?? null) !== null || event['object'] === 'error') return true
  const { type = 'error', message, detail } = event
  const isTyped = typeof type === 'string' && !/error$/i.test(type)
  const isSaid = typeof message === 'string' || typeof detail === 'string'
  return isSaid && !isTyped && Object.keys(event).every((name) => MEMBERS.has(name))
}
