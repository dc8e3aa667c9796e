/** What the words of a statement, or of a cell of a table, are when the one is looked for in the other. */

import type { Place, Words } from './comparison.ts'
import { foldedWords } from './comparison.ts'
import { contentWordsOf } from './content-words.ts'
import { contrastOf } from './lexicon.ts'
import { numberValues } from './reading.ts'
import { isNumber, isSingle } from './tokens.ts'
import { areFormsOfOneWord } from './word-forms.ts'

export interface Term {
  /** Folded; of a code its letters and digits without what joins them. */
  readonly word: string
  /** A code is made of letters with digits behind them: `E4`, `PAY-102`. Its digits are no number. A letter is the name of a record: `B`. */
  readonly kind: 'word' | 'name' | 'number' | 'pair' | 'code' | 'letter'
  /** Number of its first word. */
  readonly at: number
  /** Of a code: its letters and digits; of a letter: as the table has it. */
  readonly parts: readonly string[]
  readonly isCapital: boolean
  /** It stands beside the name of a month, or is written with other numbers as a date. */
  readonly isOfDate?: boolean
}

/** Letters of a unit or ending behind the digits of a code that still belong to it: `E4-B`. */
const LONGEST_TAIL = 1

/** The words that mean something, codes in one piece. */
export function termsOf(text: Words, place: Place): Term[] {
  const folded = foldedWords(text, place.from, place.to)
  const codes = codesIn(text, place, folded)
  const contents = contentWordsOf(text, place, folded)
  const terms: Term[] = []
  for (const { from, parts } of codes)
    terms.push({ word: parts.join(''), kind: 'code', at: from, parts, isCapital: isCapitalAt(text, from) })
  let next = 0
  for (const { word, kind, at } of contents) {
    while (next < codes.length && (codes[next]?.to ?? 0) <= at) next++
    const code = codes[next]
    if (code !== undefined && code.from <= at) continue
    terms.push({ word, kind, at, parts: [word], isCapital: isCapitalAt(text, at) })
  }
  return terms.sort((a, b) => a.at - b.at)
}

function isCapitalAt({ text, starts }: Words, at: number): boolean {
  return /^\p{Lu}/u.test(text.slice(starts[at], (starts[at] ?? 0) + 2))
}

interface Code extends Place {
  readonly parts: readonly string[]
}

function codesIn({ text, starts, ends }: Words, { from, to }: Place, folded: readonly string[]): Code[] {
  const codes: Code[] = []
  const isJoined = (at: number): boolean => /^[-_]?$/.test(text.slice(ends[at - 1], starts[at]))
  const isLetters = (word: string): boolean => /^\p{L}/u.test(word) && !isSingle(word)
  for (let at = from + 1; at < to; at++) {
    const before = folded[at - 1 - from] ?? ''
    const word = folded[at - from] ?? ''
    if (!isNumber(word) || !isLetters(before) || !isJoined(at)) continue
    const parts = [before, word.normalize('NFKC')]
    let end = at + 1
    for (; end < to && isJoined(end); end++) {
      const part = folded[end - from] ?? ''
      if (!isNumber(part) && !(isLetters(part) && part.length <= LONGEST_TAIL)) break
      parts.push(part)
    }
    codes.push({ from: at - 1, to: end, parts })
    at = end
  }
  return codes
}

/** With the mark that tells `B+` from `B`. */
const KEY = /^\p{L}{1,2}(?:\+\+|[+#*-])?$/u

/** Of a cell that is the name of a record, a letter or two: its term, which agrees with nothing but the same letters in the same case. */
export function letterTerm(text: string, folded: string): Term | undefined {
  return KEY.test(text) ? { word: folded, kind: 'letter', at: 0, parts: [text], isCapital: /^\p{Lu}/u.test(text) } : undefined
}

export function isLetter({ terms }: { readonly terms: readonly Term[] }): boolean {
  return terms.length === 1 && terms[0]?.kind === 'letter'
}

/** Whether two terms say the same. */
export function agree(a: Term, b: Term): boolean {
  if (a.kind === 'letter' && b.kind === 'letter') return a.parts[0] === b.parts[0]
  if (a.kind === 'letter' || b.kind === 'letter') return a.word === b.word && a.isCapital === b.isCapital
  if (a.kind === 'number' && b.kind === 'number') {
    const values = numbersOf(a)
    return numbersOf(b).some((value) => values.includes(value))
  }
  if (a.kind === 'code' || b.kind === 'code' || a.kind === 'number' || b.kind === 'number' || a.kind === 'pair')
    return a.word === b.word
  return areFormsOfOneWord(a.word, b.word)
}

/** The same terms are asked for by every cell of a table. */
const values = new WeakMap<Term, readonly string[]>()

/** What a number may be written for. */
export function numbersOf(term: Term): readonly string[] {
  const known = values.get(term)
  if (known !== undefined) return known
  const read = numberValues(term.word.normalize('NFKC'))
  values.set(term, read)
  return read
}

const SHORT_MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** 1 to 12, for the name of a month. */
export function monthOf(word: string): number | undefined {
  const contrast = contrastOf(word)
  if (contrast !== undefined && contrast[0] === contrastOf('january')?.[0]) return contrast[1] + 1
  const short = word.length <= 4 ? SHORT_MONTHS.indexOf(word.slice(0, 3)) : -1
  return short >= 0 && (word.length === 3 || word === 'sept') ? short + 1 : undefined
}
