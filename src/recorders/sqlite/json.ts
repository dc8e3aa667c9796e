/**
 * JSON of well-formed Unicode. The rule for text that is none: a surrogate without its other half becomes U+FFFD, in values and in
 * keys. Everything else, NUL included, is kept.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // `JSON.stringify` escapes lone surrogates and leaves pairs as they are. An escaped backslash before `ud` looks the same, and costs
  // no more than a second look.
  return text.includes(String.raw`\ud`) ? JSON.stringify(repaired(value)) : text
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), repaired(member)]))
}
