/**
 * JSON with the members of every object in order, so that equal values are equal texts. Members that are `undefined` are left out. Values may be nested as
 * deeply as `JSON.stringify` takes them.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isObject(member) ? inOrder(member) : member)) ?? 'null'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function inOrder(object: object): object {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
