/** Splits text into runs that look like a word, number, identifier or code, and runs into parts. */

import { patternFor } from '../util/pattern.ts'

const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー`
const UNSPACED_SYLLABIC = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`

const RUN = patternFor(String.raw`[\p{L}](?:\+\+|#)(?![\p{L}\p{N}_])|[\p{L}\p{N}\p{M}_]+(?:[.\-'’][\p{L}\p{N}\p{M}_]+)*`, 'gu')
const SEGMENT = new RegExp(
  `[${UNSPACED}]+|[${UNSPACED_SYLLABIC}][${UNSPACED_SYLLABIC}\\p{M}]*|[^${UNSPACED}${UNSPACED_SYLLABIC}]+`,
  'gu',
)
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u')
const IS_SYLLABIC = new RegExp(`^[${UNSPACED_SYLLABIC}]`, 'u')
/** Splits `HTTPServer`, `parseJson2`, `x86`, `URLs`: a plural of capitals, capitals before a word, words, capitals, digits. */
const PART = patternFor(
  String.raw`[\p{Lu}]{2,}s(?![\p{Ll}\p{M}])|[\p{Lu}]+(?=[\p{Lu}][\p{Ll}])|[\p{Lu}]?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|[\p{Lu}]+|[\p{N}]+`,
  'gu',
)
const NOT_ASCII = /[^\0-\x7f]/
const CONNECTOR = /[.\-'’_]+/

/** `spaced` runs are words or identifiers; the others come from scripts without spaces between words. */
export interface Run {
  readonly text: string
  readonly kind: 'spaced' | 'ideographic' | 'syllabic'
}

export function runs(text: string): readonly string[] {
  return text.match(RUN(text)) ?? []
}

/** Class by ASCII code: 0 may be anywhere in a run, `EDGE` only inside it, `DIVIDER` never. */
const DIVIDER = 2
const EDGE = 1
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[.\-']/.test(character)) return EDGE
  return /[\w+#]/.test(character) ? 0 : DIVIDER
})

/** The stroke of `≠`: normalisation joins it with a divider before it into one character, so that such a text cannot be split there. */
export const JOINS_DIVIDERS = '\u0338'

/** Reports whether a character is never part of a run: the text between dividers can be split into runs separately. */
export function isDivider(code: number): boolean {
  return code < 128 && ASCII[code] === DIVIDER
}

/** Reports whether a character occurs only inside runs: it can be dropped at the start and end of the text between dividers. */
export function isEdge(code: number): boolean {
  return code < 128 && ASCII[code] === EDGE
}

/** Splits a run by script. */
export function segments(run: string): Run[] {
  if (!NOT_ASCII.test(run)) return [{ text: run, kind: 'spaced' }]
  return Array.from(run.matchAll(SEGMENT), ([text]) => ({
    text,
    kind: IS_UNSPACED.test(text) ? 'ideographic' : IS_SYLLABIC.test(text) ? 'syllabic' : 'spaced',
  }))
}

/** Splits a word at dots, hyphens, apostrophes and underscores. */
export function pieces(run: string): string[] {
  return run.split(CONNECTOR).filter((piece) => piece !== '')
}

/** Splits a piece by letter case and digits. */
export function parts(piece: string): string[] {
  return piece.match(PART(piece)) ?? [piece]
}

/** Returns overlapping runs of `size` characters; a text of at most that length is returned as the only run. */
export function ngrams(text: string, size: number): string[] {
  if (!NOT_ASCII.test(text)) {
    if (text.length <= size) return [text]
    return Array.from({ length: text.length - size + 1 }, (_, at) => text.slice(at, at + size))
  }
  const characters = Array.from(text)
  if (characters.length <= size) return [text]
  return Array.from({ length: characters.length - size + 1 }, (_, at) => characters.slice(at, at + size).join(''))
}
