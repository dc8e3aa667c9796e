import { createHash, randomUUID } from 'node:crypto'
import { isRecord } from './check.ts'

/** SHA-256 of a text's UTF-8, hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/**
 * JSON with the members of every object in order, so that equal values are equal texts. Members that are `undefined` are left out. Values may be nested as
 * deeply as `JSON.stringify` takes them.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isRecord(member) ? inOrder(member) : member)) ?? 'null'
}

function inOrder(object: object): object {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const names = new WeakMap<object, string>()

/** A name for an object that nothing else has, in this process or another. */
export function nameOfObject(object: object): string {
  let name = names.get(object)
  if (name === undefined) {
    name = randomUUID()
    names.set(object, name)
  }
  return name
}
