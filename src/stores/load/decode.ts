/** Bytes to text: which encoding, and whether it is text at all. */

/** Where binary data would show itself. */
const SAMPLE = 8192
/** Share of broken characters among those beyond ASCII up to which a text counts as damaged UTF-8, not as another encoding. */
const DAMAGED = 0.1
/** Share of control characters beyond which bytes that are no UTF-8 are no text in any encoding. */
const MOST_CONTROLS = 0.01

/**
 * The text without byte order mark; `undefined` for binary data. UTF-8 and UTF-16 by their byte order mark, else UTF-8, else what the
 * document declares, else Windows-1252 (which holds ISO 8859-1).
 *
 * @param declared Name of an encoding that `TextDecoder` knows.
 */
export function decodeText(bytes: Uint8Array, declared = 'windows-1252'): string | undefined {
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return new TextDecoder('utf-8').decode(bytes)
  if (startsWith(bytes, 0xff, 0xfe, 0, 0) || startsWith(bytes, 0, 0, 0xfe, 0xff)) return undefined
  if (startsWith(bytes, 0xff, 0xfe)) return new TextDecoder('utf-16le').decode(bytes)
  if (startsWith(bytes, 0xfe, 0xff)) return new TextDecoder('utf-16be').decode(bytes)
  const sample = bytes.subarray(0, SAMPLE)
  if (sample.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    if (controls(sample) > sample.length * MOST_CONTROLS) return undefined
    const text = new TextDecoder('utf-8').decode(bytes)
    return isDamaged(text) ? text : new TextDecoder(declared).decode(bytes)
  }
}

function startsWith(bytes: Uint8Array, ...signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte)
}

function controls(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f) count++
  return count
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
