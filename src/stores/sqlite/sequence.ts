/** Keeps a chunk as its terms: title, headings and text, one after the other, with a mark between them. */

import type { Connection } from '../../util/sqlite/connection.ts'
import { RANKING } from '../rank/settings.ts'
import { decodeNumbers } from './postings.ts'

/** Stands between the fields; no term has this number. */
export const MARK = 0
/** How often an occurrence counts, by field. */
export const WEIGHTS: readonly number[] = [RANKING.titleWeight, RANKING.headingWeight, 1]

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

/** The terms of chunks, each read once. */
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

  /** Empty for a chunk that is not in the index. */
  of(id: number): readonly number[] {
    this.load([id])
    return this.#read.get(id) ?? []
  }
}
