/** Writes JSON in pieces, for values whose JSON exceeds the maximum string length of the engine. */

/** Approximate characters of a piece; long strings are cut at this length. */
const PIECE = 1_000_000

/** Yields the output of `JSON.stringify` in pieces, cut anywhere. Holds only a piece in memory, not the whole JSON. */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  let waiting = ''
  for (const part of parts(value, 0)) {
    waiting += part
    if (waiting.length < PIECE) continue
    yield waiting
    waiting = ''
  }
  if (waiting !== '') yield waiting
}

/** Depth below which a value is written by `JSON.stringify` at once. Messages are not nested this deeply. */
const DEEP = 64

function* parts(value: unknown, depth: number): Generator<string, void, undefined> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield '"'
    for (let at = 0; at < value.length;) {
      let end = Math.min(at + PIECE, value.length)
      // Keeps surrogate pairs together; half of a pair would be escaped.
      if (end < value.length && isHighSurrogate(value.charCodeAt(end - 1))) end -= 1
      yield JSON.stringify(value.slice(at, end)).slice(1, -1)
      at = end
    }
    yield '"'
  } else if (typeof value !== 'object' || value === null || depth > DEEP || 'toJSON' in value) {
    yield JSON.stringify(value) ?? 'null'
  } else if (Array.isArray(value)) {
    yield '['
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ','
      yield* parts(item, depth + 1)
    }
    yield ']'
  } else {
    let before = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue
      yield `${before}${JSON.stringify(name)}:`
      yield* parts(member, depth + 1)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff
}
