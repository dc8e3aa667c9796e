/** Cuts text into runs that look like one word, number, identifier or code, and these into parts. */

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
/** `HTTPServer`, `parseJson2`, `x86`: capitals before a word, words, capitals, digits. */
const PART = patternFor(
  String.raw`[\p{Lu}]+(?=[\p{Lu}][\p{Ll}])|[\p{Lu}]?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|[\p{Lu}]+|[\p{N}]+`,
  'gu',
)
const NOT_ASCII = /[^\0-\x7f]/
const CONNECTOR = /[.\-'’_]+/

/** `spaced` runs are words or identifiers; the others come from scripts that put no space between words. */
export interface Run {
  readonly text: string
  readonly kind: 'spaced' | 'ideographic' | 'syllabic'
}

export function runs(text: string): readonly string[] {
  return text.match(RUN(text)) ?? []
}

/** By character code of ASCII: 0 may stand in a run, `EDGE` in its middle alone, `DIVIDER` in none. */
const DIVIDER = 2
const EDGE = 1
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[.\-']/.test(character)) return EDGE
  return /[\w+#]/.test(character) ? 0 : DIVIDER
})

/** The stroke of `≠`: normalisation makes one character of it and a divider before it, so that a text that has it cannot be parted there. */
export const JOINS_DIVIDERS = '\u0338'

/** Tells whether a character stands in no run: the runs of a text are those of what stands between dividers. */
export function isDivider(code: number): boolean {
  return code < 128 && ASCII[code] === DIVIDER
}

/** Tells whether a character stands in the middle of runs alone: at the beginning and the end of what stands between dividers it can be left out. */
export function isEdge(code: number): boolean {
  return code < 128 && ASCII[code] === EDGE
}

/** Parts of a run by script. */
export function segments(run: string): Run[] {
  if (!NOT_ASCII.test(run)) return [{ text: run, kind: 'spaced' }]
  return Array.from(run.matchAll(SEGMENT), ([text]) => ({
    text,
    kind: IS_UNSPACED.test(text) ? 'ideographic' : IS_SYLLABIC.test(text) ? 'syllabic' : 'spaced',
  }))
}

/** The parts of a word between dots, hyphens, apostrophes and underscores. */
export function pieces(run: string): string[] {
  return run.split(CONNECTOR).filter((piece) => piece !== '')
}

/** Parts of a piece by letter case and digits. */
export function parts(piece: string): string[] {
  return piece.match(PART(piece)) ?? [piece]
}

/** Overlapping runs of `size` characters; a text that is no longer is its own only one. */
export function ngrams(text: string, size: number): string[] {
  if (!NOT_ASCII.test(text)) {
    if (text.length <= size) return [text]
    return Array.from({ length: text.length - size + 1 }, (_, at) => text.slice(at, at + size))
  }
  const characters = Array.from(text)
  if (characters.length <= size) return [text]
  return Array.from({ length: characters.length - size + 1 }, (_, at) => characters.slice(at, at + size).join(''))
}
