/** Decodes and encodes files without loss, so that unedited parts stay the same, byte for byte. */

import { isUtf8 } from 'node:buffer'
import { isControl } from '../binary.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

export interface Encoded {
  readonly text: string
  readonly encoding: Encoding
  /** True when a byte order mark precedes the text. */
  readonly mark: boolean
}

const MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
const SAMPLE = 8192

/**
 * Detects UTF-8 and UTF-16 by their byte order mark, UTF-16 without a mark by the zeros of its Latin letters, else UTF-8, else
 * Windows-1252. Returns `undefined` for binary data, and for bytes that encoding the text would not restore.
 */
export function decode(bytes: Uint8Array): Encoded | undefined {
  const marked = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked !== undefined) return decodeAs(marked[0], bytes.subarray(marked[1].length), true)
  const sample = bytes.subarray(0, SAMPLE)
  const encoding = sample.includes(0) ? wide(sample) : isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  return encoding === undefined ? undefined : decodeAs(encoding, bytes, false)
}

function decodeAs(encoding: Encoding, body: Uint8Array, mark: boolean): Encoded | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body)
    return isText(text) ? { text, encoding, mark } : undefined
  } catch {
    return undefined
  }
}

/** Detects UTF-16 when in nine of ten characters the same byte of the two is zero, as in Latin text. */
function wide(sample: Uint8Array): Encoding | undefined {
  const pairs = Math.floor(sample.length / 2)
  let even = 0
  let odd = 0
  for (let at = 0; at < pairs; at++) {
    if (sample[2 * at] === 0) even++
    if (sample[2 * at + 1] === 0) odd++
  }
  if (odd > pairs * 0.9 && even === 0) return 'utf-16le'
  return even > pairs * 0.9 && odd === 0 ? 'utf-16be' : undefined
}

/**
 * Returns false for text with a NUL or more than a hundredth of control characters. Stricter than `looksBinary`, because every byte is a
 * character of Windows-1252: of random bytes, a tenth decode to control characters and none to replacement characters.
 */
function isText(text: string): boolean {
  const length = Math.min(text.length, SAMPLE)
  let odd = 0
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0) return false
    if (isControl(code)) odd++
  }
  return odd <= 8 || odd <= length / 100
}

/** Returns `undefined` when the text holds a character that the encoding does not have. */
export function encode({ text, encoding, mark }: Encoded): Buffer | undefined {
  // None of the encodings can hold half a surrogate pair.
  if (!text.isWellFormed()) return undefined
  if (encoding === 'windows-1252') return encodeWindows(text)
  const body = Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'utf16le')
  if (encoding === 'utf-16be') body.swap16()
  const bytes = mark ? (MARKS.find(([name]) => name === encoding)?.[1] ?? []) : []
  return Buffer.concat([Buffer.from(bytes), body])
}

let windowsBytes: ReadonlyMap<string, number> | undefined

function encodeWindows(text: string): Buffer | undefined {
  windowsBytes ??= new Map(
    [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))].map((char, byte) => [
      char,
      byte,
    ]),
  )
  const bytes: number[] = []
  for (const char of text) {
    const byte = windowsBytes.get(char)
    if (byte === undefined) return undefined
    bytes.push(byte)
  }
  return Buffer.from(bytes)
}
