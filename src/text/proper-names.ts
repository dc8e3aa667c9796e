/** Finds names by their spelling, and lists within a sentence: `GET, PUT and POST`. */

import type { IndexedWords, Words } from './comparable-words.ts'

/** Languages in which a capital letter marks a name; not German, which capitalises all nouns. */
const BY_CAPITAL = new Set(['en', 'es', 'fr', 'it', 'pt', 'nl', 'ru', 'zh', 'ja', 'th', 'ar'])
export const IDENTIFIER: RegExp = /\p{Ll}\p{Lu}|\p{Lu}{2}|\p{L}\p{N}/u

export function raw({ text, starts, ends }: Words, at: number): string {
  return text.slice(starts[at], ends[at])
}

/** Reports whether a word is an identifier, which has only one spelling: `parseJson`, `LinearRouter`. */
export function isIdentifier(words: Words, at: number): boolean {
  return /\p{Ll}\p{Lu}/u.test(raw(words, at))
}

export function isNameAt(words: Words, at: number, language: string, isFirst: boolean): boolean {
  const word = raw(words, at)
  if (IDENTIFIER.test(word)) return true
  return BY_CAPITAL.has(language) && !isFirst && /^\p{Lu}\p{L}{2}/u.test(word)
}

/** Reports whether a word begins a sentence, a cell or a quotation. */
export function isFirst({ text, starts }: Words, at: number): boolean {
  return at === 0 || /[.!?:“”"„«(|]\s*$/u.test(text.slice(Math.max(0, (starts[at] ?? 0) - 3), starts[at]))
}

/** Least common initial letters of two forms of a name: `Portugal`, `Portuguese`. */
const COMMON_LETTERS = 4
/** Most words of a text in which forms of a name are searched; bounds the cost. */
const MOST_WORDS = 5000

/** Reports whether a text has a word in another form, or as an acronym; returns true for a text too long to search. */
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

/** Most words of an item. Other words of the sentence precede the first item, and follow the last one. */
export const LONGEST_MEMBER = 3

/** Word range of an item. */
export interface Member {
  readonly from: number
  readonly to: number
}

const CONJUNCTIONS = new Set(['and', 'or', 'und', 'oder', 'y', 'o', 'e', 'et', 'ou', 'и', 'или', '和', '或', '与', '及'])

/** Returns the lists of at least three items. */
export function listsIn(words: Words): Member[][] {
  const lists: Member[][] = []
  let list: Member[] = []
  let from = 0
  for (let at = 1; at <= words.words.length; at++) {
    const gap = at === words.words.length ? '' : words.text.slice(words.ends[at - 1], words.starts[at])
    const conjunction = CONJUNCTIONS.has(words.words[at] ?? '')
    if (!conjunction && !/[,;、،]/.test(gap) && at < words.words.length) continue
    // The first and the last item have other words of the sentence beside them, so that their length is limited.
    const first = list.length === 0 ? Math.max(from, at - LONGEST_MEMBER) : from
    if (at - first > LONGEST_MEMBER && list.length > 0) {
      list.push({ from: first, to: first + LONGEST_MEMBER })
      lists.push(list)
      list = []
    } else list.push({ from: first, to: at })
    from = conjunction ? at + 1 : at
    if (conjunction) at++
  }
  lists.push(list)
  return lists.filter((items) => items.length > 2)
}
