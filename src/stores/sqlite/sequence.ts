/** A chunk as its terms: title, headings and text, one after the other, with a mark between them. */

import { RANKING } from '../rank/settings.ts'
import { decodeNumbers, encodeNumbers } from './postings.ts'

/** Stands between the fields; no term has this id. */
const MARK = 0
const WEIGHTS = [RANKING.titleWeight, RANKING.headingWeight, 1]

export type Fields<T> = readonly [title: readonly T[], headings: readonly T[], text: readonly T[]]

export function encodeSequence([title, headings, text]: Fields<number>): Uint8Array {
  return encodeNumbers([...title, MARK, ...headings, MARK, ...text])
}

export function decodeSequence(data: Uint8Array): number[] {
  return decodeNumbers(data)
}

/** How often each term occurs, an occurrence in a title or heading counted as often as it weighs. */
export function countTerms(sequence: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  let field = 0
  for (const term of sequence) {
    if (term === MARK) field++
    else counts.set(term, (counts.get(term) ?? 0) + (WEIGHTS[field] ?? 1))
  }
  return counts
}
