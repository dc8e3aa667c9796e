/** Detects the media type of bytes from their signature, and distinguishes text from binary data. */

import type { ImagePart } from '../core/part.ts'

/** The largest image that every provider accepts: 5 MB of Base64. */
export const MAX_IMAGE_BYTES: number = 3_750_000

/** The image formats that every provider with vision accepts. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** First bytes of files, in hexadecimal digits (https://en.wikipedia.org/wiki/List_of_file_signatures). */
const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^474946383[79]61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
  [/^255044462d/, 'application/pdf'],
  [/^504b0304/, 'application/zip'],
  [/^1f8b/, 'application/gzip'],
  [/^424d.{8}0{8}/, 'image/bmp'],
  [/^(49492a00|4d4d002a)/, 'image/tiff'],
  [/^.{8}66747970(68656963|68656978|6d696631)/, 'image/heic'],
  [/^.{8}6674797061766966/, 'image/avif'],
  [/^.{8}66747970/, 'video/mp4'],
  [/^1a45dfa3/, 'video/webm'],
  [/^52494646.{8}57415645/, 'audio/wav'],
  [/^(494433|fff[b3])/, 'audio/mpeg'],
  [/^4f676753/, 'audio/ogg'],
  [/^664c6143/, 'audio/flac'],
]

export function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined
}

/** Returns the media type that the signature stands for; `undefined` for text and unknown formats. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('hex')
  return SIGNATURES.find(([signature]) => signature.test(head))?.[1]
}

/** `image/png, 12,345 bytes` */
export function describeBytes(bytes: Uint8Array): string {
  return `${mediaTypeOf(bytes) ?? 'binary data'}, ${bytes.byteLength.toLocaleString('en-US')} bytes`
}

export function imageFrom(bytes: Uint8Array): ImagePart | undefined {
  const mediaType = mediaTypeOf(bytes)
  if (mediaType === undefined || !IMAGE_TYPES.includes(mediaType) || bytes.byteLength > MAX_IMAGE_BYTES) return undefined
  return { type: 'image', mediaType, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') }
}

const SAMPLE = 64_000

/** Returns true for text that holds a NUL, or more than a tenth of control and replacement characters, as decoded binary data does. */
export function looksBinary(text: string): boolean {
  if (text.includes('\0')) return true
  const length = Math.min(text.length, SAMPLE)
  let odd = 0
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (isControl(code) || code === 0xfffd) odd++
  }
  return odd > 8 && odd > length / 10
}

/** Returns true for control characters other than white space, backspace and escape (terminal colours). */
export function isControl(code: number): boolean {
  return (code < 0x20 && (code < 0x08 || code > 0x0d) && code !== 0x1b) || code === 0x7f
}
