/** Finds the word that somebody meant who misspelt one: the nearest term of the vocabulary, at most two edits away. */

import { fold } from '../../text/fold.ts'

/** Letters from which on one edit is allowed, and two. A shorter word has too many neighbours. */
const ONE_EDIT = 5
const TWO_EDITS = 9
const LETTERS = /^\p{L}+$/u
/** Scripts without spaces are searched as groups of characters: a group that is missing is no slip. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

interface Candidate {
  readonly term: string
  /** Chunks that have it. */
  readonly frequency: number
}

/**
 * @param word that no chunk has, as it was typed: a slip may change its stem.
 * @param stem its term.
 * @param termsLike gives the terms that begin with a letter, from so many letters to so many.
 * @returns the nearest of them; of several as near ones the one whose beginning is longest the same; `undefined` where none is near enough.
 */
export function nearestTerm<T extends Candidate>(
  word: string,
  stem: string,
  termsLike: (first: string, least: number, most: number) => readonly T[],
): T | undefined {
  const typed = fold(word)
  const most = typed.length >= TWO_EDITS ? 2 : typed.length >= ONE_EDIT ? 1 : 0
  const [first] = typed
  if (most === 0 || first === undefined || !LETTERS.test(typed) || UNSPACED.test(typed)) return undefined
  // The stem of a slip may be short by chance: `redi` of `redis` is not `red`.
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

/** The letters of a word as bits, a few letters to each where there are more than 32. */
function lettersOf(word: string): number {
  let bits = 0
  for (let at = 0; at < word.length; at++) bits |= 1 << (word.charCodeAt(at) & 31)
  return bits
}

/** `false` where so many edits cannot do: each adds, and takes away, one letter at most. Counting edits costs twenty times as much. */
function mayBeWithin(most: number, a: number, b: number): boolean {
  return countBits(a & ~b) <= most && countBits(b & ~a) <= most
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Letters that both begin with: slips are seldom at the beginning of a word. */
function sharedLetters(a: string, b: string): number {
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared
}

/** Letters that are taken for each other, by ear or by accent. Another letter makes another word: `touch` is no slip for `torch`. */
const SOUNDS = ['aeiouy', 'cksqxz', 'dt', 'fvw', 'gj', 'mn', 'bp', 'lr'].map((letters) => new Set(letters))
const UNLIKELY = 2

function soundsAlike(a = '', b = ''): boolean {
  return !/[a-z]/.test(a + b) || SOUNDS.some((letters) => letters.has(a) && letters.has(b))
}

/**
 * How many letters have to be put in, left out, changed, or swapped with their neighbour (optimal string alignment distance); a letter that
 * is changed to one of another sound counts twice.
 *
 * @returns `undefined` where it takes more than `most`.
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
