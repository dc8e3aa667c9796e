/** Unifies the spellings of a word: case, width, ligatures, accents. */

import { whenNeeded } from '../util/pattern.ts'

const NOT_ASCII = /[^\0-\x7f]/
/** Scripts whose marks are accents or vowel points that are often omitted. In Thai or Devanagari the marks are letters, and stay. */
const ACCENTED = whenNeeded(
  () => /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{M}+/gu,
)
const HAS_ACCENTED = whenNeeded(() => /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}]/u)
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ð: 'd',
  þ: 'th',
  ς: 'σ',
  ى: 'ي',
  ة: 'ه',
  ـ: '',
}
const REPLACED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu')

/** Replaces full-width forms, ligatures and the like with ordinary characters. */
export function normalize(text: string): string {
  return NOT_ASCII.test(text) ? text.normalize('NFKC') : text
}

/** Returns a normalised word in lower case, without accents. */
export function fold(word: string): string {
  const lower = word.toLowerCase()
  if (!NOT_ASCII.test(lower) || !HAS_ACCENTED().test(lower)) return lower
  return lower
    .normalize('NFD')
    .replace(ACCENTED(), '$1')
    .normalize('NFC')
    .replace(REPLACED, (letter) => LETTERS[letter] ?? letter)
}
