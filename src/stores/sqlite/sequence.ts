/** A chunk as its terms: title, headings and text, one after the other, with a mark between them. */

import { RANKING } from '../rank/settings.ts'
import { decodeNumbers, encodeNumbers } from './postings.ts'

/** Stands between the fields; no term has this number. */
export const MARK = 0
/** How often an occurrence counts, by field. */
export const WEIGHTS: readonly number[] = [RANKING.titleWeight, RANKING.headingWeight, 1]

export function encodeSequence(sequence: readonly number[]): Uint8Array {
  return encodeNumbers(sequence)
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
