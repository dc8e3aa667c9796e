import { isRecord } from './check.ts'

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
