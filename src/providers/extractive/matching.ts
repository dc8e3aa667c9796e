/** Which words of a passage stand for which words of the question. */

import { FUNCTION_WORDS } from './lexicon.ts'
import type { Question, Term } from './question.ts'
import { readSynonyms } from './synonyms.ts'
import type { Word } from './words.ts'

/** How well a word stands for a term: 1 for the same stem, less for a relative of it. */
export interface Match {
  readonly term: number
  readonly strength: number
  /** Which of the parts of a name it is; absent where it is all of the term. */
  readonly part?: number
}

export const VARIANT = 0.7
const SYNONYM = 0.5
/** One part of a name of several: not enough to say that the name was said. */
export const PART = 0.4
/** All of them, each for itself: "born in Germany" for German-born. */
export const ALL_PARTS = 0.9
/** Letters before a number from which they say a word of the question: `COVID-19` is covid, `E5` is no E. */
const SHORTEST_BASE = 3

let synonyms: ReadonlyMap<string, ReadonlySet<string>> | undefined

/** Makes a function that finds the term a word stands for; remembers every word it was asked. */
export function termMatcher(question: Question): (word: Word) => Match | undefined {
  const byStem = new Map(question.terms.map((term, index) => [term.stem, index]))
  const known = new Map<string, Match | undefined>()
  synonyms ??= readSynonyms()
  return (word) => {
    const exact = byStem.get(word.stem)
    if (exact !== undefined) return { term: exact, strength: 1 }
    if (known.has(word.stem)) return known.get(word.stem)
    const match = FUNCTION_WORDS.has(word.lower) ? undefined : word.coded ? base(byStem, word) : relative(question.terms, word)
    known.set(word.stem, match)
    return match
  }
}

function base(byStem: ReadonlyMap<string, number>, { parts = [] }: Word): Match | undefined {
  const [letters] = parts
  const term = letters !== undefined && letters.lower.length >= SHORTEST_BASE ? byStem.get(letters.stem) : undefined
  return term === undefined ? undefined : { term, strength: 1 }
}

function relative(terms: readonly Term[], word: Word): Match | undefined {
  const variant = terms.findIndex((term) => !term.coded && isVariant(term.lower, word.lower))
  if (variant !== -1) return { term: variant, strength: VARIANT }
  const synonym = terms.findIndex((term) => synonyms?.get(term.stem)?.has(word.stem) === true)
  if (synonym !== -1) return { term: synonym, strength: SYNONYM }
  for (const [term, { parts }] of terms.entries()) {
    const part = parts.findIndex(({ stem, lower }) => stem === word.stem || isVariant(lower, word.lower))
    if (part !== -1) return { term, strength: PART, part }
  }
  return undefined
}

/** Words that begin alike and differ in their ending: Italy and Italian, restore and restoration. */
export function isVariant(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length)
  const longer = Math.max(a.length, b.length)
  if (shorter < 4) return false
  let same = 0
  while (same < shorter && a.charCodeAt(same) === b.charCodeAt(same)) same++
  const isAlike =
    (same >= 4 && same >= 0.55 * longer && longer - same <= 4) || (shorter >= 5 && longer - shorter <= 1 && isOneSlip(a, b, same))
  // Last, because it is almost never reached.
  return isAlike && /^\p{L}/u.test(a)
}

/** One letter added, left out, changed, or two neighbours swapped, at the first place where the words differ. */
function isOneSlip(a: string, b: string, at: number): boolean {
  // Counted, not cut out: every word of every passage comes by here.
  const room = Math.min(a.length, b.length) - at
  let end = 0
  while (end < room && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
  const restA = a.length - at - end
  const restB = b.length - at - end
  if (restA <= 1 && restB <= 1) return true
  return restA === 2 && restB === 2 && a.charAt(at) === b.charAt(at + 1) && a.charAt(at + 1) === b.charAt(at)
}
