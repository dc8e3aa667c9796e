/** Recognises errors in the place of an answer, in whatever words. */

import type { JsonObject } from '../../core/json.ts'
import { asArray, objectsIn } from '../wire/json.ts'

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
const ANSWERS = ['choices', 'candidates', 'content'] as const

/** Whether an event, or the whole of a body, reports an error. One that is `null` or empty, which some servers send with each chunk, is none. */
export function isErrorReport(value: JsonObject): boolean {
  if ((value['error'] ?? '') !== '' || value['object'] === 'error') return true
  if (asArray(value['errors']).length > 0) return !holdsAnswer(value)
  const { type = 'error', message, detail } = value
  if (typeof message !== 'string' && typeof detail !== 'string') return false
  const isTyped = typeof type === 'string' && !/error$/i.test(type)
  return !isTyped && Object.keys(value).every((name) => MEMBERS.has(name))
}

/** Whether the body of an answer is an error and no answer beside it, or none that counts. */
export function isErrorBody(body: JsonObject): boolean {
  return isErrorReport(body) && (body['status'] === 'failed' || !holdsAnswer(body))
}

function holdsAnswer(value: JsonObject): boolean {
  return ANSWERS.some((name) => name in value) || objectsIn(value['output']).length > 0
}
