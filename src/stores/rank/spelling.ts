/** Compares words by their spelling: finds other forms of a word by common groups of characters, and the nearest term to a misspelt word by edits. */

import { fold } from '../../text/fold.ts'
import { ngrams } from '../../text/split.ts'
import { patternFor } from '../../util/pattern.ts'

const SIZE = 4
const SHORTEST = 3
/** Letters only: `2008` is not a form of `2009`, and pairs of ideographs are too short to compare. */
const COMPARABLE = patternFor(String.raw`^[\p{L}\p{M}]+$`, 'u')
/** Scripts without spaces are searched as groups of characters: a missing group is not a misspelling. */
const UNSPACED = patternFor(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'u',
)
/** Marks the start of the word: beginnings carry more of the meaning than ends. */
const START = '^'

/** Returns the distinct groups of four characters in a term; none when it cannot be compared. */
export function gramsOf(term: string): string[] {
  return isComparable(term) ? [...new Set(ngrams(START + term, SIZE))] : []
}

function isComparable(term: string): boolean {
  return term.length >= SHORTEST && COMPARABLE(term).test(term) && !UNSPACED(term).test(term)
}

/** Returns the weight of a gram that `frequency` words of a vocabulary have. */
export function gramWeight(vocabulary: number, frequency: number): number {
  return Math.log(1 + vocabulary / Math.max(frequency, 0.5)) ** 2
}

/** A number of grams and their total weight. */
export interface Grams {
  readonly count: number
  readonly weight: number
}

/**
 * Approximates the cosine of a query word and another word by weighted grams, from the shared ones. Grams of the other word alone get the average
 * weight of the query word's grams; looking up their own weights, for thousands of words, would cost too much.
 */
export function similarity(word: Grams, otherCount: number, shared: Grams): number {
  const only = Math.max(0, otherCount - shared.count)
  return shared.weight / Math.sqrt(word.weight * (shared.weight + (only * word.weight) / word.count))
}

/** Least letters of a word that may have one edit, and two. A shorter word has too many neighbours. */
const ONE_EDIT = 5
const TWO_EDITS = 9
const LETTERS = /^\p{L}+$/u

interface Candidate {
  readonly term: string
  /** Number of chunks with the term. */
  readonly frequency: number
}

/**
 * @param word as typed, which no chunk has: a misspelling may change its stem.
 * @param stem the term of the word.
 * @param termsLike returns the terms that begin with a letter, of a least to a largest length.
 * @returns the nearest term; of several as near, the one with the longest common beginning; `undefined` where none is near enough.
 */
export function nearestTerm<T extends Candidate>(
  word: string,
  stem: string,
  termsLike: (first: string, least: number, most: number) => readonly T[],
): T | undefined {
  const typed = fold(word)
  const most = typed.length >= TWO_EDITS ? 2 : typed.length >= ONE_EDIT ? 1 : 0
  const [first] = typed
  if (most === 0 || first === undefined || !LETTERS.test(typed) || UNSPACED(typed).test(typed)) return undefined
  // The stem of a misspelling may be short by chance: `redi` of `redis` is not `red`.
  const forms = stem.length >= ONE_EDIT ? [typed, stem] : [typed]
  const formLetters = forms.map(lettersOf)
  const near = termsLike(first, stem.length - most, typed.length + most).flatMap((found) => {
    const { length } = found.term
    if (Math.min(Math.abs(length - typed.length), Math.abs(length - stem.length)) > most || !LETTERS.test(found.term)) return []
    const letters = lettersOf(found.term)
    const edits = forms.flatMap((form, at) =>
      mayBeWithin(most, formLetters[at] ?? 0, letters) ? (editsBetween(form, found.term, most) ?? []) : [],
    )
    return edits.length === 0 ? [] : [{ found, edits: Math.min(...edits), shared: sharedLetters(typed, found.term) }]
  })
  near.sort(
    (a, b) =>
      a.edits - b.edits || b.shared - a.shared || b.found.frequency - a.found.frequency || (a.found.term < b.found.term ? -1 : 1),
  )
  return near[0]?.found
}

/** Returns the letters of a word as a bit set; some share a bit when there are more than 32. */
function lettersOf(word: string): number {
  let bits = 0
  for (let at = 0; at < word.length; at++) bits |= 1 << (word.charCodeAt(at) & 31)
  return bits
}

/** Returns `false` if so few edits cannot suffice: each adds and removes at most one letter. Twenty times cheaper than counting edits. */
function mayBeWithin(most: number, a: number, b: number): boolean {
  return countBits(a & ~b) <= most && countBits(b & ~a) <= most
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Returns the length of the common beginning: misspellings are seldom there. */
function sharedLetters(a: string, b: string): number {
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared
}

/** Letters confused by sound or accent. Other changes make another word: `touch` is not a misspelling of `torch`. */
const SOUNDS = ['aeiouy', 'cksqxz', 'dt', 'fvw', 'gj', 'mn', 'bp', 'lr'].map((letters) => new Set(letters))
const UNLIKELY = 2

function soundsAlike(a = '', b = ''): boolean {
  return !/[a-z]/.test(a + b) || SOUNDS.some((letters) => letters.has(a) && letters.has(b))
}

/**
 * Counts letters to insert, delete, replace, or swap with a neighbour (optimal string alignment distance). Replacing a letter with one of another
 * sound counts twice.
 *
 * @returns `undefined` when more than `most` edits are needed.
 */
export function editsBetween(a: string, b: string, most: number): number | undefined {
  if (most < 0 || Math.abs(a.length - b.length) > most) return undefined
  let previous: number[] = []
  let current = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const beforePrevious = previous
    previous = current
    current = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const changed = isSame ? 0 : soundsAlike(a[i - 1], b[j - 1]) ? 1 : UNLIKELY
      let edits = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + changed)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (beforePrevious[j - 2] ?? 0) + 1)
      current.push(edits)
      least = Math.min(least, edits)
    }
    if (least > most) return undefined
  }
  const edits = current[b.length] ?? 0
  return edits <= most ? edits : undefined
}
