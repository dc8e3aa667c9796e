/** Reads clauses: where they end, what a denial in them is about, and what would be the contrary of a word. */

import type { Words } from './comparable-words.ts'
import { fold } from './fold.ts'
import type { Language } from './language.ts'
import { contrariesOf } from './polarity-words.ts'
import type { WordClass } from './polarity-words.ts'

/** Whether a word belongs to a closed class. */
type Is = (name: WordClass, words: Words, at: number) => boolean

/** Words that a denial, quantifier or modal word reaches. */
export const REACH = 4

/** The denial before a word, with nothing but words of grammar between them. */
export function denialOf(words: Words, at: number, first: number, is: Is): number | undefined {
  for (let before = at - 1; before >= Math.max(first, at - REACH); before--) {
    if (is('not', words, before)) return before
    if (!is('grammar', words, before) && !is('may', words, before)) return undefined
  }
  return undefined
}

/** `not only`, `not all`, `no more than`: these deny less than the word behind them. */
export function isLimited(words: Words, denial: number, is: Is): boolean {
  return (
    is('whole', words, denial + 1) ||
    /^(?:more|less|just|nur|solo|seulement|uniquement|только)$/u.test(words.words[denial + 1] ?? '')
  )
}

export function contraries(word: string, language: Language): readonly string[] {
  const known = contrariesOf(word, language, fold)
  if (language !== 'en' && language !== 'de') return known
  const prefixed = /^(?:un|im|non|dis)(\p{L}{5,})$/u.exec(word)?.[1]
  return [
    ...known,
    ...(prefixed === undefined ? [] : [prefixed]),
    ...(word.length >= 5 ? [`un${word}`, `im${word}`, `non${word}`, `dis${word}`] : []),
  ]
}

/** The next word with content. */
export function target(words: Words, at: number): string | undefined {
  for (let next = at + 1; next <= at + REACH; next++) {
    const key = words.keys[next]
    if (key !== undefined && key.length > 3) return key
  }
  return undefined
}

export function clauseOf(
  words: Words,
  at: number,
  ends: RegExp,
  from: number,
  to: number,
): { readonly from: number; readonly to: number } {
  let [first, last] = [at, at + 1]
  while (first > from && !ends.test(words.text.slice(words.ends[first - 1], words.starts[first]))) first--
  while (last < to && !ends.test(words.text.slice(words.ends[last - 1], words.starts[last]))) last++
  return { from: first, to: last }
}
