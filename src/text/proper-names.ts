/** Tells names from other words by how they are written. */

import type { IndexedWords, Words } from './comparable-words.ts'

/** Languages in which a capital letter makes a name. German is not among them. */
const BY_CAPITAL = new Set(['en', 'es', 'fr', 'it', 'pt', 'nl', 'ru', 'zh', 'ja', 'th', 'ar'])
export const IDENTIFIER: RegExp = /\p{Ll}\p{Lu}|\p{Lu}{2}|\p{L}\p{N}/u

export function raw({ text, starts, ends }: Words, at: number): string {
  return text.slice(starts[at], ends[at])
}

/** `parseJson`, `LinearRouter`: written in one way only. */
export function isIdentifier(words: Words, at: number): boolean {
  return /\p{Ll}\p{Lu}/u.test(raw(words, at))
}

export function isNameAt(words: Words, at: number, language: string, isFirst: boolean): boolean {
  const word = raw(words, at)
  if (IDENTIFIER.test(word)) return true
  return BY_CAPITAL.has(language) && !isFirst && /^\p{Lu}\p{L}{2}/u.test(word)
}

/** Words of the claim that begin a sentence, a cell or a quotation. */
export function isFirst({ text, starts }: Words, at: number): boolean {
  return at === 0 || /[.!?:“”"„«(|]\s*$/u.test(text.slice(Math.max(0, (starts[at] ?? 0) - 3), starts[at]))
}

/** Letters that forms of one name share: `Portugal`, `Portuguese`. */
const COMMON_LETTERS = 4
/** Words of a text in which forms of a name are looked for: a bound on the cost. */
const MOST_WORDS = 5000

/** Whether a text has a word in another form, or as an acronym; a text that is too long to tell may have it. */
export function hasForm({ places, words }: IndexedWords, word: string): boolean {
  if (words.length > MOST_WORDS) return true
  const start = word.slice(0, COMMON_LETTERS)
  for (const key of places.keys()) if (key.startsWith(start) || (key.length >= COMMON_LETTERS && word.includes(key))) return true
  return (
    /^\p{L}{2,6}$/u.test(word) &&
    words
      .map((each) => each[0] ?? '')
      .join('')
      .includes(word)
  )
}
