/** Names of several parts, `K3`, `PAY-104`, `river-map`: one word of the question, and the same one however a passage writes it. */

import { FUNCTION_WORDS, NUMBER_WORDS, ORDINAL_WORDS } from './lexicon.ts'
import { stem } from './stem.ts'
import type { Word } from './words.ts'

const LINK = /^[-‐‑–_.]$/u
const YEAR = /^(?:1\d{3}|20\d{2})s?$/
const MOST_PARTS = 4
/** What hyphens set before a word that means nearly the same without it: co-founders founded, too. */
const PREFIXES: ReadonlySet<string> = new Set([
  'anti',
  'co',
  'ex',
  'mid',
  'multi',
  'non',
  'post',
  'pre',
  're',
  'self',
  'semi',
  'vice',
])

/** The words of a question with what hyphens, points and underscores link made one; "mid-1990s", "co-founder" and "built-in" are left alone. */
export function joinNames(text: string, words: readonly Word[]): Word[] {
  const joined: Word[] = []
  for (let at = 0; at < words.length;) {
    const run = words.slice(at, at + MOST_PARTS)
    let parts = 1
    while (parts < run.length && linked(text, run[parts - 1], run[parts], parts === 1)) parts++
    joined.push(merged(text, words.slice(at, at + parts)))
    at += parts
  }
  return joined
}

function linked(text: string, before: Word | undefined, word: Word | undefined, isFirst: boolean): boolean {
  if (before === undefined || word === undefined || !LINK.test(text.slice(before.end, word.start))) return false
  if (isFirst && (before.numeric || !canBePart(before))) return false
  return word.numeric ? !YEAR.test(word.lower) && !text.slice(before.end, word.start).includes('.') : canBePart(word)
}

function canBePart({ lower }: Word): boolean {
  return ![FUNCTION_WORDS, NUMBER_WORDS, ORDINAL_WORDS, PREFIXES].some((others) => others.has(lower))
}

function merged(text: string, parts: readonly Word[]): Word {
  const [first] = parts
  const last = parts.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('A name has at least one part.')
  if (parts.length === 1) return first
  return {
    start: first.start,
    end: last.end,
    lower: text.slice(first.start, last.end).toLowerCase(),
    stem: stem(parts.map(({ lower }) => bare(lower)).join('')),
    capital: first.capital,
    upper: parts.every(({ upper }) => upper),
    numeric: false,
    coded: parts.some(({ numeric, coded }) => numeric || coded),
    parts,
  }
}

function bare(lower: string): string {
  return lower.replaceAll(/[-‐‑–_.]/gu, '')
}

/** What of a question may be written in parts, or in one, by a passage. */
export interface Spelling {
  /** Stems of one word in the question: what a passage may part by a link; and whether a space may part it too. */
  readonly whole: ReadonlyMap<string, { readonly begins: string; readonly bySpace: boolean }>
  /** A letter and a number that are two words of the question. */
  readonly parted: ReadonlySet<string>
}

const SHORTEST_WHOLE = 6

export function spellingOf(words: readonly Word[]): Spelling {
  const whole = new Map<string, { begins: string; bySpace: boolean }>()
  const parted = new Set<string>()
  words.forEach((word, index) => {
    const bySpace = word.coded || word.parts !== undefined
    if (bySpace || word.lower.length >= SHORTEST_WHOLE) whole.set(word.stem, { begins: bare(word.lower), bySpace })
    const next = words[index + 1]
    if (next?.numeric === true && !word.numeric && !FUNCTION_WORDS.has(word.lower)) parted.add(word.lower + next.lower)
  })
  return { whole, parted }
}

/** The words of a passage with the names of the question spelled as the question spells them. */
export function spellLike({ whole, parted }: Spelling, text: string, words: readonly Word[]): Word[] {
  const targets = [...whole]
  const spelled: Word[] = []
  for (let at = 0; at < words.length;) {
    const word = words[at]
    if (word === undefined) break
    if (word.coded && parted.has(word.stem)) {
      spelled.push(...(word.parts ?? [word]))
      at++
      continue
    }
    const lower = bare(word.lower)
    const length = whole.has(word.stem)
      ? 1
      : Math.max(
          1,
          ...targets.map(([target, { begins, bySpace }]) =>
            begins.startsWith(lower) ? spans(text, words, at, target, bySpace) : 1,
          ),
        )
    spelled.push(length === 1 ? word : merged(text, words.slice(at, at + length)))
    at += length
  }
  return spelled
}

/** How many words from this one on are the name, 1 where they are not. */
function spans(text: string, words: readonly Word[], at: number, target: string, bySpace: boolean): number {
  let joined = bare(words[at]?.lower ?? '')
  for (let length = 2; length <= MOST_PARTS; length++) {
    const [before, word] = [words[at + length - 2], words[at + length - 1]]
    if (before === undefined || word === undefined) break
    const between = text.slice(before.end, word.start)
    if (between !== '' && !LINK.test(between) && !(bySpace && between === ' ')) break
    joined += bare(word.lower)
    if (stem(joined) === target) return length
  }
  return 1
}
