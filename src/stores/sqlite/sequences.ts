import type { Connection } from '../../util/sqlite/connection.ts'
import { decodeSequence } from './sequence.ts'

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
    for (const { id, terms } of rows) this.#read.set(id, decodeSequence(terms))
  }

  of(id: number): readonly number[] {
    this.load([id])
    return this.#read.get(id) ?? []
  }
}
