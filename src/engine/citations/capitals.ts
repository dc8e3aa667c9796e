/** Which words of a statement are names by their capital letter. */

import type { Place, Words } from './comparison.ts'

/** Characters before a word in which the mark stands that makes it the first of a sentence or quotation: the mark and some spaces. */
const OPENING = 4

/** For each word, whether its capital makes a name of it: not at the beginning, not in a title, and not where nouns have one too. */
export function namesByCapital({ text, starts }: Words, { from, to }: Place): boolean[] {
  const isName: boolean[] = []
  let lettered = 0
  let capital = 0
  for (let at = from; at < to; at++) {
    const start = starts[at] ?? 0
    const first = String.fromCodePoint(text.codePointAt(start) ?? 0)
    const isCapital = /\p{Lu}/u.test(first)
    if (/\p{L}/u.test(first)) lettered++
    if (isCapital) capital++
    const opens = at === from || /[.!?:“„«"(]\s*$/.test(text.slice(Math.max(0, start - OPENING), start))
    isName.push(isCapital && !opens)
  }
  // Where most words have a capital, it is the style of a title. One more is allowed for the first word.
  const isTitle = capital * 2 > lettered + 1
  return isTitle || looksGerman(text.slice(starts[from], starts[to - 1])) ? isName.map(() => false) : isName
}

/**
 * German writes every noun with a capital, so that there it tells nothing. Hardly a German sentence goes without one of these words.
 *
 * It is a guess. Where it errs, nouns are held to be names, which must stand somewhere in the passage (too strict), or names are held to be
 * words like others (too lax).
 */
const GERMAN =
  /(?:^|[\s(])(?:der|die|das|den|dem|des|und|ist|wird|wurde|wurden|eine?[rnms]?|nicht|für|mit|von|zur?|zum|im|am|werden|sind|hat|haben)(?=\s)/i
/** `die`, `den`, `am`, `hat` are English words too. */
const ENGLISH = /\b(?:the|of|was|is)\b/i

function looksGerman(text: string): boolean {
  return GERMAN.test(text) && !ENGLISH.test(text)
}
