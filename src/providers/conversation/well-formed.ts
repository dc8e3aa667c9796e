/** Text that every provider takes: a model may have said half a surrogate pair or a NUL, and providers refuse to hear it again. */

import type { Json } from '../../core/json.ts'

const REPLACEMENT = '\uFFFD'

export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', REPLACEMENT)
}

export function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(wellFormedJson)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[wellFormed(name), wellFormedJson(member)]])),
  )
}
