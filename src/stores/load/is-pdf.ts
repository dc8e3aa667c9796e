/** Recognises PDF files by their header, which need not stand at the start of the file. */

import { extname } from 'node:path'

const HEADER = '%PDF-'
/** Readers of PDF look for the header in this many leading bytes. */
const SEARCHED = 1024
/** Control characters other than white space and terminal colours, or the start of a print job (`ESC % -`). */
// eslint-disable-next-line no-control-regex
const NOT_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]|\x1b%-/

/**
 * Returns true if the bytes have a PDF header that is not part of a text. Bytes before the header must be a byte order mark, white space or junk,
 * unless the name ends in `.pdf`: a Markdown file may mention `%PDF-`.
 */
export function isPdf(bytes: Uint8Array, name = ''): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SEARCHED))
  const at = head.indexOf(HEADER)
  if (at < 0) return false
  return at === 0 || extname(name).toLowerCase() === '.pdf' || !isText(head.subarray(0, at))
}

function isText(bytes: Buffer): boolean {
  const text = bytes.toString('utf8')
  if (text.trim() === '' || NOT_TEXT.test(text)) return false
  // Without an ASCII character, bytes that are not UTF-8 are junk and not a text of an older encoding.
  return !text.includes('\ufffd') || /[a-z\d\s]/i.test(text)
}
