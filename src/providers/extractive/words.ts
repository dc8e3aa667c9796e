/** Text as words with their places: what all comparing is done on. */

import { numeral } from './numerals.ts'
import { stem } from './stem.ts'

export interface Word {
  /** UTF-16 offsets into the text. */
  readonly start: number
  readonly end: number
  /** Lower case, without diacritics and possessive ending. */
  readonly lower: string
  /** What words are compared by. */
  readonly stem: string
  /** Begins with a capital letter. */
  readonly capital: boolean
  /** All its letters are capitals. */
  readonly upper: boolean
  /** Begins with a digit. */
  readonly numeric: boolean
}

/** Scripts that put no spaces between words; their runs are read as overlapping pairs of characters. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const UNSPACED_RUN = new RegExp(`^[${UNSPACED}\\p{M}ー]+$`, 'u')
const WORD = new RegExp(
  `[${UNSPACED}][${UNSPACED}\\p{M}ー]*|(?:\\p{Lu}\\.){2,}|\\p{N}+(?:[.,:]\\p{N}+)*(?:(?:st|nd|rd|th|s)(?![\\p{L}\\p{N}]))?|(?:(?![${UNSPACED}])[\\p{L}\\p{M}])+(?:['’](?:(?![${UNSPACED}])[\\p{L}\\p{M}])+)*`,
  'gu',
)
const UPPER = /^\p{Lu}/u
const ALL_UPPER = /^[\p{Lu}.]+$/u
const DIGIT = /^\p{N}/u

/** All words of a text, in order. Numbers keep their separators (`1,600`, `24.5`, `3:08`). */
export function readWords(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD)) {
    const [run] = match
    if (UNSPACED_RUN.test(run)) pairs(run, match.index, words)
    else words.push(word(run, match.index))
  }
  return words
}

function word(run: string, start: number): Word {
  const lower = plain(run)
    .replace(/['’]s?$/u, '')
    .replaceAll(/['’.](?!\p{N})/gu, '')
  const numeric = DIGIT.test(run)
  return {
    start,
    end: start + run.length,
    lower,
    stem: numeral(run, lower) ?? stem(lower),
    capital: UPPER.test(run),
    upper: ALL_UPPER.test(run),
    numeric,
  }
}

function plain(run: string): string {
  const lower = run.toLowerCase()
  return /^[\x20-\x7e]*$/.test(lower) ? lower : lower.normalize('NFKD').replaceAll(/\p{M}/gu, '')
}

function pairs(run: string, start: number, into: Word[]): void {
  const characters = [...run]
  let offset = start
  for (let i = 0; i < Math.max(1, characters.length - 1); i++) {
    const first = characters[i] ?? ''
    const text = first + (characters[i + 1] ?? '')
    into.push({ start: offset, end: offset + text.length, lower: text, stem: text, capital: false, upper: false, numeric: false })
    offset += first.length
  }
}

/** How long a text is, in words as people count them: what stands between white space; two characters of an unspaced script. */
export function countWords(text: string): number {
  let count = 0
  for (const token of text.split(/\s+/u)) {
    if (token === '') continue
    const unspaced = token.match(new RegExp(`[${UNSPACED}]`, 'gu'))?.length ?? 0
    count += Math.max(1, Math.ceil(unspaced / 2))
  }
  return count
}
