/** Reads JSON of unknown shape: a member of another type than expected counts as absent. */

import type { JsonObject } from '../../core/json.ts'

/** Parses a JSON object; returns `undefined` for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the objects in a list. */
export function objectsIn(value: unknown): JsonObject[] {
  return asArray(value).filter((member): member is JsonObject => asObject(member) !== undefined)
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns the text, and an empty one for any other value. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
