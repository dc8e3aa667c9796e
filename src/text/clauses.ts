/** Reads clauses: their ends, the words that a negation applies to, and antonyms. */

import type { Words } from './comparable-words.ts'
import { fold } from './fold.ts'
import type { Language, WordClass } from './function-words.ts'
import type { Span } from './alignment.ts'
import { contrariesOf, isClosed, partsOf, unspacedContraries, wordsOf } from './function-words.ts'

/** Reports whether a word belongs to a closed class. */
type Is = (name: WordClass, words: Words, at: number) => boolean

/** Most words between a negation, quantifier or modal word and the word it applies to. */
const REACH = 4

/** Returns the negation before a word, with only function words between them. */
function denialOf(words: Words, at: number, first: number, is: Is): number | undefined {
  for (let before = at - 1; before >= Math.max(first, at - REACH); before--) {
    if (is('not', words, before)) return before
    if (!is('grammar', words, before) && !is('may', words, before)) return undefined
  }
  return undefined
}

/** Reports `not only`, `not all`, `no more than`: these negate less than the next word. */
function isLimited(words: Words, denial: number, is: Is): boolean {
  return (
    is('whole', words, denial + 1) ||
    /^(?:more|less|just|nur|solo|seulement|uniquement|только)$/u.test(words.words[denial + 1] ?? '')
  )
}

/** Returns the antonyms of a word, listed or formed with a prefix. */
function contraries(word: string, language: Language): readonly string[] {
  const known = contrariesOf(word, language, fold)
  if (language !== 'en' && language !== 'de') return known
  const prefixed = /^(?:un|im|non|dis)(\p{L}{5,})$/u.exec(word)?.[1]
  return [
    ...known,
    ...(prefixed === undefined ? [] : [prefixed]),
    ...(word.length >= 5 ? [`un${word}`, `im${word}`, `non${word}`, `dis${word}`] : []),
  ]
}

/** Returns the next content word. */
function target(words: Words, at: number): string | undefined {
  for (let next = at + 1; next <= at + REACH; next++) {
    const key = words.keys[next]
    if (key !== undefined && key.length > 3) return key
  }
  return undefined
}

/** Returns the words around a place, up to the punctuation that ends the clause. */
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

export const SENTENCE_PART_END: RegExp = /[;:.!?–—(]/
/** A word of a statement and a word of a passage that may exclude each other. */
export interface Clash {
  readonly kind: 'contrary' | 'negation' | 'quantifier' | 'modality'
  readonly own: number
  readonly their: number
  /** Words of the passage to show instead of those at `their`. */
  readonly has?: string
}

/** Yields words of a statement and of a passage window, in the same language, that may exclude each other. */
export function* clashes(claim: Words, passage: Words, window: Span, language: Language): Generator<Clash> {
  const is = (name: WordClass, words: Words, at: number): boolean => {
    const [known, word = ''] = [wordsOf(language, name, fold), words.words[at]]
    return known.has(word) || known.has(`${word} ${words.words[at + 1] ?? ''}`)
  }
  const theirs = Array.from({ length: window.to - window.from }, (_, at) => window.from + at)
  const ours = [...claim.words.keys()]
  const isDenied = (words: Words, at: number, first: number): boolean => {
    for (let before = at - 1; before >= Math.max(first, at - REACH); before--) {
      if (is('not', words, before)) return true
      if (isContent(words, before) && before < at - 1) return false
    }
    return false
  }
  const isContent = (words: Words, at: number): boolean => !isClosed(words.words[at] ?? '', language, fold)
  const denials = ours.filter((at) => is('not', claim, at))
  // Antonyms.
  for (const own of ours) {
    for (const word of contraries(claim.words[own] ?? '', language)) {
      if (claim.words.includes(word)) continue
      for (const their of theirs) {
        if (passage.words[their] !== word || clauseHas(passage, their, claim.words[own] ?? '', window)) continue
        if (isDenied(claim, own, 0) === isDenied(passage, their, window.from)) yield { kind: 'contrary', own, their }
      }
    }
  }
  // A word that the passage negates and the claim does not.
  if (denials.length === 0) {
    for (const own of ours) {
      if (!isContent(claim, own)) continue
      for (const their of theirs) {
        if (passage.keys[their] !== claim.keys[own]) continue
        const denial = denialOf(passage, their, window.from, is)
        if (denial !== undefined && !isLimited(passage, denial, is))
          yield { kind: 'negation', own, their, has: span(passage, denial, their) }
      }
    }
  }
  for (const own of ours) {
    if (is('whole', claim, own) && !ours.some((at) => is('part', claim, at))) {
      for (const their of theirs) {
        if (!is('part', passage, their)) continue
        const isHedged = passage.words[their + 1] === claim.words[own]
        if (isHedged || !theirs.some((at) => is('whole', passage, at)) || target(claim, own) === target(passage, their))
          yield { kind: 'quantifier', own, their }
      }
    }
    if (is('whole', claim, own) && !ours.some((at) => is('except', claim, at) && !is('not', claim, at - 1))) {
      for (const their of theirs)
        if (is('except', passage, their) && !is('not', passage, their - 1)) yield { kind: 'quantifier', own, their }
    }
    if (is('must', claim, own) && !isDenied(claim, own, 0)) {
      for (const their of theirs) {
        if (is('must', passage, their) && isDenied(passage, their, window.from))
          yield { kind: 'modality', own, their, has: phrase(passage, their - 1) }
        else if (
          is('may', passage, their) &&
          !theirs.some((at) => is('must', passage, at)) &&
          target(claim, own) === target(passage, their)
        )
          yield { kind: 'modality', own, their }
      }
    }
  }
}

function clauseHas(words: Words, at: number, word: string, { from, to }: Span): boolean {
  const clause = clauseOf(words, at, SENTENCE_PART_END, from, to)
  return words.words.slice(clause.from, clause.to).includes(word)
}

export function phrase({ text, starts, ends }: Words, at: number): string {
  return text.slice(starts[at], ends[at + 1] ?? ends[at])
}

function span({ text, starts, ends }: Words, from: number, to: number): string {
  return text.slice(starts[from], ends[to])
}

/** Reports whether a language puts no spaces between words, so that words are searched as substrings. */
export function isUnspaced(language: Language): boolean {
  return partsOf(language, 'not').length > 0
}

/** As `clashes`, for two texts in a language without spaces. */
export function unspacedClash(
  own: string,
  their: string,
  language: Language,
): { readonly kind: Clash['kind']; readonly said: string; readonly has: string } | undefined {
  for (const pair of unspacedContraries(language)) {
    for (const [said = '', has = ''] of [pair, pair.toReversed()])
      if (own.includes(said) && !own.includes(has) && their.includes(has) && !their.includes(said))
        return { kind: 'contrary', said, has }
  }
  const first = (text: string, name: 'whole' | 'part'): string | undefined =>
    partsOf(language, name).find((part) => text.includes(part))
  const [said, has] = [first(own, 'whole'), first(their, 'part')]
  if (said === undefined || has === undefined || first(own, 'part') !== undefined || first(their, 'whole') !== undefined)
    return undefined
  return { kind: 'quantifier', said, has }
}
