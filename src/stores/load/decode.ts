/** Decodes bytes to text: detects the encoding, and rejects binary data. */

/** Leading bytes in which binary data is looked for. */
const SAMPLE = 8192
/** Most broken characters among those beyond ASCII, as a share, in damaged UTF-8; with more, another encoding is assumed. */
const DAMAGED = 0.1
/** Largest share of control characters in text; with more, the bytes are binary. */
const MOST_CONTROLS = 0.01
/** Least share of the zero bytes in one half of the pairs for UTF-16, whose upper halves they are. */
const ONE_HALF = 0.99

export interface Decoded {
  /** Without the byte order mark. */
  readonly text: string
  /** Encoding name as in `TextDecoder`. */
  readonly encoding: string
  /** Says that the encoding was guessed or that characters are broken. Missing for UTF-8, UTF-16 with a mark, and declared encodings. */
  readonly note?: string
}

/** Byte order marks, longest first; `undefined` for UTF-32, which is not supported. */
const MARKS: readonly (readonly [bytes: readonly number[], encoding: string | undefined])[] = [
  [[0xff, 0xfe, 0, 0], undefined],
  [[0, 0, 0xfe, 0xff], undefined],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/**
 * Decodes a text; returns `undefined` for binary data. Tried in this order: byte order mark, UTF-8 (also if cut inside a character), the declared
 * encoding, UTF-16 without a mark, the encoding whose text looks most like a language, Windows-1252 (which includes ISO 8859-1). Reads the
 * whole text.
 *
 * @param declared Name of an encoding that `TextDecoder` supports.
 */
export function decodeText(bytes: Uint8Array, declared?: string): Decoded | undefined {
  const mark = MARKS.find(([begins]) => begins.every((byte, at) => bytes[at] === byte))
  if (mark !== undefined) return mark[1] === undefined ? undefined : lenient(bytes, mark[1])
  const sample = bytes.subarray(0, SAMPLE)
  if (sample.includes(0)) return withoutMark(bytes, sample)
  const utf8 = strict(bytes, 'utf-8')
  if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8' }
  if (sample.filter(isControl).length > sample.length * MOST_CONTROLS) return undefined
  const damaged = lenient(bytes, 'utf-8')
  if (isDamaged(damaged.text) || isCut(bytes)) return damaged
  // The bytes are not UTF-8, even if declared so.
  if (declared !== undefined && declared !== 'utf-8') return lenient(bytes, declared)
  return guessed(guess(bytes) ?? { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' })
}

function guessed(decoded: Decoded): Decoded {
  return { ...decoded, note: `read as ${decoded.encoding}, a guess: it declares no encoding` }
}

function lenient(bytes: Uint8Array, encoding: string): Decoded {
  const text = new TextDecoder(encoding).decode(bytes)
  const broken = count(text, /\ufffd/g)
  if (broken === 0) return { text, encoding }
  return { text, encoding, note: `has ${broken} broken ${broken === 1 ? 'character' : 'characters'}` }
}

/** Returns `undefined` when the bytes are not in this encoding. @param mayBeCut drops an incomplete character at the end. */
function strict(bytes: Uint8Array, encoding: string, mayBeCut = false): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: mayBeCut })
  } catch {
    return undefined
  }
}

/** Detects UTF-16 without a byte order mark: the zero bytes are the upper halves of ASCII characters, on one side of the pairs. */
function withoutMark(bytes: Uint8Array, sample: Uint8Array): Decoded | undefined {
  const zeros = sample.filter((byte) => byte === 0).length
  const odd = sample.filter((byte, at) => byte === 0 && at % 2 === 1).length
  const encoding = odd >= ONE_HALF * zeros ? 'utf-16le' : 'utf-16be'
  if (encoding === 'utf-16be' && zeros - odd < ONE_HALF * zeros) return undefined
  const text = strict(bytes, encoding, true)
  if (text === undefined) return undefined
  const isBinary = count(text.slice(0, SAMPLE), UNLIKELY) > Math.min(text.length, SAMPLE) * MOST_CONTROLS
  return isBinary ? undefined : guessed({ text, encoding })
}

/** Control characters, unassigned characters and private-use characters. */
// eslint-disable-next-line no-control-regex
const UNLIKELY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\p{Cn}\p{Co}]/gu

function isControl(byte: number): boolean {
  return byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f
}

/**
 * The most frequent characters of languages, and their least share among the characters beyond ASCII: about half of the usual share. Latin
 * scripts have single such characters between others; these languages have runs of them.
 */
const LANGUAGES: readonly (readonly [encoding: string, frequent: RegExp, least: number])[] = [
  ['shift_jis', /[ぁ-んァ-ヶー、。]/g, 0.25],
  ['euc-jp', /[ぁ-んァ-ヶー、。]/g, 0.25],
  ['gb18030', /[的一是不了在人有我他这中大来上国个到说们，。]/g, 0.08],
  ['big5', /[的一是不了在人有我他這中大來上國個到說們，。]/g, 0.08],
  ['euc-kr', /[이다는의에을가고하지로를은한도기]/g, 0.12],
  ['windows-1251', /[оеаинтсрвл]/g, 0.3],
  ['koi8-r', /[оеаинтсрвл]/g, 0.3],
  ['windows-1253', /[αοιετνσηρκπυ]/g, 0.35],
]
const LEAST_RUN = 2
/** Most characters beyond ASCII that are counted. */
const ENOUGH = 100_000

/** Returns the encoding whose text looks most like a language; `undefined` when none does. */
function guess(bytes: Uint8Array): Decoded | undefined {
  let best: Decoded | undefined
  let bestShare = 0
  for (const [encoding, frequent, least] of LANGUAGES) {
    const text = strict(bytes, encoding, true)
    if (text === undefined) continue
    const runs = text.match(/[^\0-\x7f]+/g) ?? []
    const beyond = runs.join('')
    const counted = beyond.slice(0, ENOUGH)
    // As a multiple of the least share.
    const share = count(counted, frequent) / counted.length / least
    if (share < 1 || beyond.length < LEAST_RUN * runs.length || share <= bestShare) continue
    best = { text, encoding }
    bestShare = share
  }
  return best
}

function count(text: string, pattern: RegExp): number {
  let found = 0
  for (const _ of text.matchAll(pattern)) found++
  return found
}

/** Reports whether the only invalid UTF-8 is a character cut at the beginning or end, and some other character is beyond ASCII. */
function isCut(bytes: Uint8Array): boolean {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  const inner = strict(bytes.subarray(start), 'utf-8', true)
  return inner !== undefined && /[^\0-\x7f]/.test(inner)
}

function isDamaged(text: string): boolean {
  const broken = count(text, /\ufffd/g)
  const beyond = text.replaceAll(/[\0-\x7f]+/g, '').length
  return broken <= (beyond - broken) * DAMAGED
}
