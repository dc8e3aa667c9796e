/** JSON in pieces: a value whose JSON is longer than the longest string of the engine can still be written. */

/** Characters of a piece, about; a long text is cut into as many. */
const PIECE = 1_000_000

/** The JSON of a value, as `JSON.stringify` gives it, cut anywhere. Takes memory in proportion to the value and a piece, not to its JSON. */
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

/** Below this depth only what is nested deeper than any message is; it is small, or it fails as ever. */
const DEEP = 64

function* parts(value: unknown, depth: number): Generator<string, void, undefined> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield '"'
    for (let at = 0; at < value.length;) {
      let end = Math.min(at + PIECE, value.length)
      // Half of a surrogate pair would be escaped.
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
