/** Errors in the place of an answer, in whatever words. */

import type { JsonObject } from '../../core/json.ts'

/** What an error is told with; an object that has nothing else, and a message, is one. */
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

/** Whether an event, or the whole of a body, says nothing but what went wrong. */
export function isErrorReport(value: JsonObject): boolean {
  if ((value['error'] ?? '') !== '' || value['object'] === 'error') return true
  const { type = 'error', message, detail } = value
  const isTyped = typeof type === 'string' && !/error$/i.test(type)
  const isSaid = typeof message === 'string' || typeof detail === 'string'
  return isSaid && !isTyped && Object.keys(value).every((name) => MEMBERS.has(name))
}
