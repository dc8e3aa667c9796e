/** What the words of a statement, or of one place of a passage, are when they are compared: a bag, values, pairs and clauses. */

import { foldedWords, headOf } from './comparison.ts'
import type { PassageText, Place } from './comparison.ts'
import { numeral, valuesOf } from './lexicon.ts'
import { isNumber } from './tokens.ts'
import { bagHasFormOf, bagOf } from './word-forms.ts'
import type { Bag } from './word-forms.ts'

export interface Reading {
  /** Folded, in their order. */
  readonly words: readonly string[]
  readonly bag: Bag
  /** What its numbers may be written for, digits or words. */
  readonly values: ReadonlySet<string>
  /** Neighbours, joined: scripts without spaces are compared by these. */
  readonly pairs: ReadonlySet<string>
  /** Before which words a clause begins. */
  readonly clauses: readonly boolean[]
}

/** The numbers that a word may be written for; none, where it is no number. */
export function numberValues(word: string): readonly string[] {
  const digits = numeral(word)
  return digits !== undefined ? [digits] : isNumber(word) ? valuesOf(word) : []
}

const CLAUSE_MARK = /[,;:()–—.!?，；：。！？、]/

/** @param gap what stands before a word; where there is no text to look into, nothing. */
export function readWords(words: readonly string[], gap: (at: number) => string = () => ''): Reading {
  const values = new Set<string>()
  const pairs = new Set<string>()
  for (const [at, word] of words.entries()) {
    for (const value of numberValues(word)) values.add(value)
    pairs.add(word + (words[at + 1] ?? ''))
  }
  // `10 000` is one number.
  for (let at = 0; at + 1 < words.length; at++) {
    if (/^\d{1,3}$/.test(words[at] ?? '') && /^\d{3}$/.test(words[at + 1] ?? '') && /^[\s]$/.test(gap(at + 1))) {
      values.add(`${words[at] ?? ''}${words[at + 1] ?? ''}`)
    }
  }
  return { words, bag: bagOf(words), values, pairs, clauses: words.map((_, at) => at === 0 || CLAUSE_MARK.test(gap(at))) }
}

/** Characters before a word that are looked through for the end of a clause: a bound on the cost where a rule of hundreds of dashes stands. */
const LONGEST_GAP = 20

/** Statements that share their marker ask for the same places again. */
const readings = new WeakMap<PassageText, Map<string, Reading>>()

export function readPlace(passage: PassageText, { from, to }: Place): Reading {
  let known = readings.get(passage)
  if (known === undefined) {
    known = new Map<string, Reading>()
    readings.set(passage, known)
  }
  const key = `${from}:${to}`
  const before = known.get(key)
  if (before !== undefined) return before
  const reading = readWords(foldedWords(passage, from, to), (at) => {
    const start = passage.starts[from + at]
    return passage.text.slice(Math.max(passage.ends[from + at - 1] ?? 0, (start ?? 0) - LONGEST_GAP), start)
  })
  known.set(key, reading)
  return reading
}

/** Characters of title, headings and source that are read: a bound on the cost, beyond any real heading. */
const LONGEST_CONTEXT = 2000

/** The words of title, headings and source: what they say, a passage need not repeat. */
export function contextOf({ retrieved: { chunk } }: PassageText): Bag {
  const text = [chunk.title ?? '', ...(chunk.headings ?? []), chunk.source].join(' ').slice(0, LONGEST_CONTEXT)
  return bagOf(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [],
  )
}

/** Sentences with a like beginning that are looked at for a form of one word: a bound on the cost. */
const SENTENCES_PER_WORD = 6

export function passageHasFormOf(passage: PassageText, word: string): boolean {
  const places = passage.places()
  return passage
    .placesOf(headOf(word))
    .slice(0, SENTENCES_PER_WORD)
    .some((index) => {
      const place = places[index]
      return place !== undefined && bagHasFormOf(readPlace(passage, place).bag, word)
    })
}
