/** Makes hashes, comparable JSON, and names of objects, as keys. */

import { createHash, randomUUID } from 'node:crypto'
import { isRecord } from './check.ts'

/** Returns the SHA-256 of a text in UTF-8, hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/**
 * Returns JSON with sorted members, so that equal values have equal texts. Omits members that are `undefined`. Values may be nested as
 * deeply as `JSON.stringify` allows.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isRecord(member) ? inOrder(member) : member)) ?? 'null'
}

function inOrder(object: object): object {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const names = new WeakMap<object, string>()

/** Returns a globally unique name for an object, the same on every call. */
export function nameOfObject(object: object): string {
  let name = names.get(object)
  if (name === undefined) {
    name = randomUUID()
    names.set(object, name)
  }
  return name
}
