/**
 * How values become text. The rule for text that is no well-formed Unicode: a surrogate without its other half becomes U+FFFD, in
 * values and in keys. Everything else, NUL included, is kept.
 */

/** JSON in which equal values look equal: the keys of every object are in order. */
export function canonicalJson(value: unknown): string {
  return wellFormedJson(inOrder(value))
}

export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // `JSON.stringify` escapes lone surrogates, and only those; pairs stand there as they are.
  return LONE_SURROGATE.test(text) ? JSON.stringify(repaired(value)) : text
}

/** Also true for an escaped backslash before `ud800`, which costs a second look and changes nothing. */
const LONE_SURROGATE = /\\ud[89a-f]/

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), repaired(member)]))
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(value).sort()) sorted[key] = inOrder((value as Record<string, unknown>)[key])
  return sorted
}
