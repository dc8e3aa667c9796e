/** Text as words with their places: what all comparing is done on. */

import { numbersIn } from '../../util/number-runs.ts'
import { patternFor } from '../../util/pattern.ts'
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
  /** Letters and a number that are one name: `K3`, `PAY-104`. */
  readonly coded: boolean
  /** Of a name of several parts: its letters and its numbers, or what hyphens part. */
  readonly parts?: readonly Word[]
}

/** Scripts that put no spaces between words; their runs are read as overlapping pairs of characters. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const UNSPACED_RUN = new RegExp(`^[${UNSPACED}\\p{M}ー]+$`, 'u')
const LETTER = `(?:(?![${UNSPACED}\\p{Script=Hangul}])[\\p{L}\\p{M}])`
/** Before a number these are words of their own: `v2`, `c1890`, `USD100`. */
const NO_NAME = String.raw`(?:v|[Nn]o|[Nn]r|USD?|EUR|GBP|CHF|JPY|Rs|kr)[\p{N}]|ca?[12][\p{N}]{3}(?![\p{N}])`
const CODED = `(?<![\\p{L}\\p{N}])(?!${NO_NAME})(?:${LETTER}+[\\p{N}]|[\\p{Lu}]+[-\u2010\u2011][\\p{N}])(?:[\\p{N}]|${LETTER})*(?:[-.][\\p{N}]+)*`
const IS_CODED = patternFor(`^${CODED}$`, 'u')
const WORD = patternFor(
  `${CODED}|[${UNSPACED}][${UNSPACED}\\p{M}ー]*|(?:[\\p{Lu}]\\.){2,}|[\\p{Lu}]+(?:&[\\p{Lu}]+)+|(?<![\\p{L}\\p{N}])[\\p{L}](?:\\+\\+|#)(?![\\p{L}\\p{N}])|[\\p{N}]+(?:[.,:][\\p{N}]+)*(?:(?:st|nd|rd|th|s)(?![\\p{L}\\p{N}]))?|(?:(?![${UNSPACED}])[\\p{L}\\p{M}])+(?:['’](?:(?![${UNSPACED}])[\\p{L}\\p{M}])+)*`,
  'gu',
)
const UPPER = patternFor(String.raw`^[\p{Lu}]`, 'u')
const ALL_UPPER = patternFor(String.raw`^[\p{Lu}.&]+$`, 'u')
const DIGIT = patternFor(String.raw`^[\p{N}]`, 'u')
const DOT_OR_APOSTROPHE = patternFor(String.raw`['’.](?![\p{N}])`, 'gu')

/** All words of a text, in order. Numbers keep their separators (`1,600`, `24.5`, `3:08`), names their signs (`AT&T`, `C++`). */
export function readWords(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD(text))) {
    const [run] = match
    if (run.charCodeAt(0) > 0x7f && UNSPACED_RUN.test(run)) pairs(run, match.index, words)
    else if (run.includes(',')) {
      for (const [start, end] of numbersIn(text, match.index, match.index + run.length))
        words.push(word(text.slice(start, end), start))
    } else {
      const elided = run.includes("'") || run.includes('’') ? (ELISION.exec(run)?.[0].length ?? 0) : 0
      if (elided > 0) words.push(word(run.slice(0, elided - 1), match.index))
      words.push(word(run.slice(elided), match.index + elided))
    }
  }
  return words
}

/** French and Italian write two words as one: `l'acqua`, `qu'il`. */
const ELISION = /^(?:[cdjlmnst]|(?:jus|lors|puis|quel)?qu|dell|nell|all|dall|sull|un)['’](?=\p{L}{2})/iu

const INNER_CAPITAL = patternFor(String.raw`(?<=[\p{Ll}\p{N}])(?=[\p{Lu}])`, 'gu')

/** The same, with names such as `poolSize` in their parts. */
export function readNames(text: string): Word[] {
  return readWords(text).flatMap((whole) => {
    const name = text.slice(whole.start, whole.end)
    const parts = name.split(INNER_CAPITAL(name))
    let { start } = whole
    return parts.length === 1
      ? [whole]
      : parts.map((part) => {
          const found = word(part, start)
          start = found.end
          return found
        })
  })
}

type Form = Pick<Word, 'lower' | 'stem' | 'capital' | 'upper' | 'numeric' | 'coded'>

/** Forms of words that were read before: texts repeat their words, and stemming costs more than all the rest. */
const forms = new Map<string, Form>()
const MOST_FORMS = 20_000

function word(run: string, start: number): Word {
  let form = forms.get(run)
  if (form === undefined) {
    if (forms.size >= MOST_FORMS) forms.clear()
    form = formOf(run)
    forms.set(run, form)
  }
  const { lower, stem, capital, upper, numeric, coded } = form
  const whole = { start, end: start + run.length, lower, stem, capital, upper, numeric, coded }
  return coded ? { ...whole, parts: partsOf(run, start) } : whole
}

function partsOf(run: string, start: number): Word[] {
  return Array.from(run.matchAll(LETTERS_OR_NUMBER(run)), ({ 0: part, index }) => word(part, start + index))
}

const LETTERS_OR_NUMBER = patternFor(String.raw`[\p{N}]+(?:\.[\p{N}]+)*|[\p{L}\p{M}]+`, 'gu')

const ENGLISH_LETTERS = /^[A-Za-z]+$/

function formOf(run: string): Form {
  // Most words, and words that are read once are most of the work: nothing to fold, nothing to cut off.
  if (ENGLISH_LETTERS.test(run)) {
    const lower = run.toLowerCase()
    const capital = run.charCodeAt(0) < 0x5b
    return {
      lower,
      stem: numeral(run, lower) ?? stem(lower),
      capital,
      upper: run === run.toUpperCase(),
      numeric: false,
      coded: false,
    }
  }
  if (/\d/.test(run) && IS_CODED(run).test(run)) {
    const lower = plain(run)
    const upper = run === run.toUpperCase()
    return {
      lower,
      stem: stem(lower.replaceAll(/[-\u2010\u2011.]/gu, '')),
      capital: UPPER(run).test(run),
      upper,
      numeric: false,
      coded: true,
    }
  }
  const whole = plain(run).replace(/['’]s?$/u, '')
  const lower = whole.replaceAll(DOT_OR_APOSTROPHE(whole), '')
  return {
    lower,
    stem: numeral(run, lower) ?? stem(lower),
    capital: UPPER(run).test(run),
    upper: ALL_UPPER(run).test(run),
    numeric: DIGIT(run).test(run),
    coded: false,
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
    into.push({
      start: offset,
      end: offset + text.length,
      lower: text,
      stem: text,
      capital: false,
      upper: false,
      numeric: false,
      coded: false,
    })
    offset += first.length
  }
}

const TOKEN = /\S+/gu
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, 'gu')

/** Makes a function that says how long a stretch of a text is, in words as people count them: what stands between white space, and two characters of an unspaced script. */
export function wordCounter(text: string): (start: number, end: number) => number {
  const starts: number[] = []
  const ends: number[] = []
  /** Words before each token. */
  const before: number[] = [0]
  if (isAscii(text)) {
    readAsciiTokens(text, starts, ends)
    for (let words = 1; words <= starts.length; words++) before.push(words)
  } else {
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      starts.push(index)
      ends.push(index + token.length)
      before.push((before.at(-1) ?? 0) + lengthOf(token))
    }
  }
  return (start, end) => {
    const first = firstAbove(ends, start)
    const last = firstAbove(starts, end - 1) - 1
    if (last < first) return 0
    const whole = (before[last + 1] ?? 0) - (before[first] ?? 0)
    if ((starts[first] ?? 0) >= start && (ends[last] ?? 0) <= end) return whole
    if (first === last) return lengthOf(text.slice(start, end))
    return (
      (before[last] ?? 0) -
      (before[first + 1] ?? 0) +
      lengthOf(text.slice(start, ends[first])) +
      lengthOf(text.slice(starts[last], end))
    )
  }
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

/** What stands between white space; a plain loop, since most texts are ASCII and a process that answers once is not warm. */
function readAsciiTokens(text: string, starts: number[], ends: number[]): void {
  let inside = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isSpace = code === 0x20 || (code >= 0x09 && code <= 0x0d)
    if (isSpace === inside) {
      if (isSpace) ends.push(index)
      else starts.push(index)
      inside = !inside
    }
  }
  if (inside) ends.push(text.length)
}

function lengthOf(token: string): number {
  if (/^[\x20-\x7e]*$/.test(token)) return token === '' ? 0 : 1
  return Math.max(1, Math.ceil((token.match(UNSPACED_CHARACTER)?.length ?? 0) / 2))
}

/** Index of the first of the ascending numbers that is above `value`. */
function firstAbove(numbers: readonly number[], value: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low
}
