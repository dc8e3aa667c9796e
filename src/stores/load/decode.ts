/** Bytes to text: which encoding, and whether it is text at all. */

/** Where binary data would show itself. */
const SAMPLE = 8192
/** Share of broken characters among those beyond ASCII up to which a text counts as damaged UTF-8, not as another encoding. */
const DAMAGED = 0.1
/** Share of control characters beyond which bytes are not text. */
const MOST_CONTROLS = 0.01
/** Share of the zero bytes that stand in one half of the pairs, where they are the upper halves of UTF-16. */
const ONE_HALF = 0.99

export interface Decoded {
  /** Without byte order mark. */
  readonly text: string
  /** As `TextDecoder` names it. */
  readonly encoding: string
  /** The encoding was guessed, or some characters are broken: worth telling. Missing for UTF-8, UTF-16 with a mark, and what was declared. */
  readonly note?: string
}

/**
 * Decodes a text; `undefined` for binary data. UTF-8 and UTF-16 by their byte order mark, else UTF-8, also where it was cut inside a
 * character, else what the document declares, else UTF-16 without a mark, else the encoding whose text looks like a language, else
 * Windows-1252 (which holds ISO 8859-1). The whole text is looked at.
 *
 * @param declared Name of an encoding that `TextDecoder` knows.
 */
export function decodeText(bytes: Uint8Array, declared?: string): Decoded | undefined {
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return lenient(bytes, 'utf-8')
  if (startsWith(bytes, 0xff, 0xfe, 0, 0) || startsWith(bytes, 0, 0, 0xfe, 0xff)) return undefined
  if (startsWith(bytes, 0xff, 0xfe)) return lenient(bytes, 'utf-16le')
  if (startsWith(bytes, 0xfe, 0xff)) return lenient(bytes, 'utf-16be')
  const sample = bytes.subarray(0, SAMPLE)
  if (sample.includes(0)) return withoutMark(bytes, sample)
  const utf8 = strict(bytes, 'utf-8')
  if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8' }
  if (controls(sample) > sample.length * MOST_CONTROLS) return undefined
  const damaged = lenient(bytes, 'utf-8')
  if (isDamaged(damaged.text) || isCut(bytes)) return damaged
  // It is not in UTF-8, whatever it says.
  if (declared !== undefined && declared !== 'utf-8') return lenient(bytes, declared)
  const guessed = guess(bytes) ?? { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' }
  return { ...guessed, note: `read as ${guessed.encoding}, which it does not say itself` }
}

function lenient(bytes: Uint8Array, encoding: string): Decoded {
  const text = new TextDecoder(encoding).decode(bytes)
  const broken = count(text, /\ufffd/g)
  return {
    text,
    encoding,
    ...(broken === 0 ? {} : { note: `has ${broken} broken ${broken === 1 ? 'character' : 'characters'}` }),
  }
}

/** `undefined` when the bytes are not in this encoding. @param mayBeCut a character that is cut at the end is left out. */
function strict(bytes: Uint8Array, encoding: string, mayBeCut = false): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: mayBeCut })
  } catch {
    return undefined
  }
}

/** UTF-16 without a byte order mark: the zeros are the upper halves of ASCII characters, and stand on one side of the pairs. */
function withoutMark(bytes: Uint8Array, sample: Uint8Array): Decoded | undefined {
  let [even, odd] = [0, 0]
  for (const [at, byte] of sample.entries()) {
    if (byte !== 0) continue
    if (at % 2 === 0) even++
    else odd++
  }
  const encoding = odd >= ONE_HALF * (even + odd) ? 'utf-16le' : even >= ONE_HALF * (even + odd) ? 'utf-16be' : undefined
  const text = encoding === undefined ? undefined : strict(bytes, encoding, true)
  if (encoding === undefined || text === undefined) return undefined
  if (count(text.slice(0, SAMPLE), UNLIKELY) > Math.min(text.length, SAMPLE) * MOST_CONTROLS) return undefined
  return { text, encoding, note: `read as ${encoding}, which it does not say itself` }
}

/** Control characters, and characters that have no meaning, or none between programs. */
// eslint-disable-next-line no-control-regex
const UNLIKELY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\p{Cn}\p{Co}]/gu

/**
 * The most frequent characters of languages, and the least share that they have of the characters beyond ASCII: about half of what is
 * usual. In Latin scripts such characters stand alone between others; in these languages they stand together.
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
/** Characters beyond ASCII that are counted. */
const ENOUGH = 100_000

/** The encoding in which the text looks most like a language; `undefined` when it does in none. */
function guess(bytes: Uint8Array): Decoded | undefined {
  let best: (Decoded & { readonly share: number }) | undefined
  for (const [encoding, frequent, least] of LANGUAGES) {
    const text = strict(bytes, encoding, true)
    if (text === undefined) continue
    const runs = text.match(/[^\0-\x7f]+/g) ?? []
    const beyond = runs.join('')
    const counted = beyond.slice(0, ENOUGH)
    const share = count(counted, frequent) / counted.length
    if (share >= least && beyond.length >= LEAST_RUN * runs.length && share / least > (best?.share ?? 0))
      best = { text, encoding, share: share / least }
  }
  return best && { text: best.text, encoding: best.encoding }
}

function count(text: string, pattern: RegExp): number {
  let found = 0
  for (const _ of text.matchAll(pattern)) found++
  return found
}

/** Whether bytes are UTF-8 but for a character that was cut at their beginning or end; a text with no other character beyond ASCII says too little. */
function isCut(bytes: Uint8Array): boolean {
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start++
  let end = bytes.length
  while (bytes.length - end < 3 && isContinuation(bytes[end - 1])) end--
  const isLead = (bytes[end - 1] ?? 0) >= 0xc2
  const inner = strict(bytes.subarray(start, isLead ? end - 1 : bytes.length), 'utf-8')
  return inner !== undefined && /[^\0-\x7f]/.test(inner)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function startsWith(bytes: Uint8Array, ...signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte)
}

function controls(bytes: Uint8Array): number {
  let found = 0
  for (const byte of bytes) if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f) found++
  return found
}

function isDamaged(text: string): boolean {
  let broken = 0
  let foreign = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0xfffd) broken++
    else if (code > 0x7f) foreign++
  }
  return broken <= foreign * DAMAGED
}
