/** Stores a chunk as its terms: title, headings and text in order, separated by a mark. */

import type { Connection } from '../../util/sqlite/connection.ts'
import { RANKING } from '../rank/score.ts'
import { decodeNumbers } from './postings.ts'

/** Separates the fields; no term has this number. */
export const MARK = 0
/** Weight of an occurrence, by field. */
export const WEIGHTS: readonly number[] = [RANKING.titleWeight, RANKING.headingWeight, 1]

/** Counts each term, multiplied by the weight of title and headings. */
export function countTerms(sequence: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  let field = 0
  for (const term of sequence) {
    if (term === MARK) field++
    else counts.set(term, (counts.get(term) ?? 0) + (WEIGHTS[field] ?? 1))
  }
  return counts
}

/** The terms of chunks; each chunk is read once. */
export class Sequences {
  readonly #connection: Connection
  readonly #read = new Map<number, readonly number[]>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  load(ids: readonly number[]): void {
    const missing = ids.filter((id) => !this.#read.has(id))
    if (missing.length === 0) return
    const rows = this.#connection.all<{ id: number; terms: Uint8Array }>(
      'SELECT id, terms FROM sequences WHERE id IN (SELECT value FROM json_each(?))',
      [JSON.stringify(missing)],
    )
    for (const { id, terms } of rows) this.#read.set(id, decodeNumbers(terms))
  }

  /** Returns an empty list for a chunk that is not in the index. */
  of(id: number): readonly number[] {
    this.load([id])
    return this.#read.get(id) ?? []
  }
}
