/** Cleans text of a server before a model or a person reads it. */

import { beginningOf } from '../../util/cut.ts'

/** Characters that nobody sees and models read: controls, directions, tags, private use. Line ends and tabs stay. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu

export function cleanText(text: string, limit: number): string {
  // More than can be left over need not be looked at.
  const clean = text
    .slice(0, limit * 2)
    .toWellFormed()
    .replaceAll(UNSEEN, '')
  return clean.length <= limit && text.length <= limit * 2
    ? clean
    : `${beginningOf(clean, limit)} [… cut: ${text.length.toLocaleString('en-US')} characters]`
}
