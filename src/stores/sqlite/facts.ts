/** Reads and writes the numbers that a store keeps about itself. */

import type { Connection } from '../../util/sqlite/connection.ts'

export type Fact =
  | 'analyzer'
  /** Chunks there are, and their lengths added up. */
  | 'chunks'
  | 'length'
  /** Different terms there are. */
  | 'terms'
  /** Grows with every transaction that changes the index. */
  | 'changes'
  /** Grows with every transaction that changes vectors. */
  | 'vector_changes'
  | 'next_chunk'
  | 'next_term'
  | 'next_block'
  /** How many of the ids given so far have nothing in the index, because it was compacted. */
  | 'compacted_chunks'
  | 'compacted_terms'

export function readFact(connection: Connection, name: Fact): number {
  return connection.get<{ value: number }>('SELECT value FROM facts WHERE name = ?', [name])?.value ?? 0
}

export function writeFact(connection: Connection, name: Fact, value: number): void {
  connection.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', [name, value])
}

export function addToFact(connection: Connection, name: Fact, difference: number): void {
  writeFact(connection, name, readFact(connection, name) + difference)
}
