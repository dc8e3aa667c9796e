/** Keeps the statistics of the index: single numbers, and lists of numbers by chunk or term. Every query needs them, so they are remembered. */

import type { Connection } from '../../util/sqlite/connection.ts'
import type { CorpusSize } from '../rank/bm25.ts'

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

/**
 * - `lengths`: terms of each chunk, weighted by field; 0 for a chunk that is not there (any more), whose postings must not count.
 * - `keys`: order chunks of equal score.
 * - `frequencies`: chunks that have each term; 0 for a term that no chunk has.
 */
type NumberList = 'lengths' | 'keys' | 'frequencies'

/** Ids whose numbers stand in one row. */
const PAGE = 1024

interface Row {
  readonly page: number
  readonly data: Uint8Array
}

/** All numbers of a list by id; those beyond its end are 0. */
export function readNumbers(connection: Connection, list: NumberList): Uint32Array {
  const rows = connection.all<Row>('SELECT page, data FROM numbers WHERE list = ? ORDER BY page', [list])
  const numbers = new Uint32Array(((rows.at(-1)?.page ?? -1) + 1) * PAGE)
  const bytes = new Uint8Array(numbers.buffer)
  for (const { page, data } of rows) bytes.set(data, page * PAGE * Uint32Array.BYTES_PER_ELEMENT)
  return numbers
}

/**
 * Changes the number of each id. Inside a transaction.
 *
 * @param ids ascending. @param change gives the new number; `at` is the place of the id among them.
 * @returns how many numbers are no longer 0, less how many have become 0.
 */
export function changeNumbers(
  connection: Connection,
  list: NumberList,
  ids: ArrayLike<number>,
  change: (before: number, at: number) => number,
): number {
  let gained = 0
  for (let from = 0; from < ids.length;) {
    const page = Math.floor((ids[from] ?? 0) / PAGE)
    const numbers = new Uint32Array(PAGE)
    const bytes = new Uint8Array(numbers.buffer)
    const row = connection.get<Row>('SELECT page, data FROM numbers WHERE list = ? AND page = ?', [list, page])
    if (row !== undefined) bytes.set(row.data)
    let at = from
    for (; at < ids.length && Math.floor((ids[at] ?? 0) / PAGE) === page; at++) {
      const place = (ids[at] ?? 0) % PAGE
      const before = numbers[place] ?? 0
      numbers[place] = change(before, at)
      gained += Number(numbers[place] !== 0) - Number(before !== 0)
    }
    from = at
    if (numbers.some((number) => number !== 0)) {
      connection.run('INSERT OR REPLACE INTO numbers (list, page, data) VALUES (?, ?, ?)', [list, page, bytes])
    } else {
      connection.run('DELETE FROM numbers WHERE list = ? AND page = ?', [list, page])
    }
  }
  return gained
}

/** The statistics of all chunks, as they were when `changes` was read. */
export interface Corpus extends CorpusSize {
  readonly changes: number
  /** Different terms there are. */
  readonly terms: number
  readonly lengths: Uint32Array
  readonly keys: Uint32Array
  readonly frequencies: Uint32Array
}

/** Inside the snapshot in which the query is answered. @param known what was read before: given back while the index is the same. */
export function readCorpus(connection: Connection, known: Corpus | undefined): Corpus {
  const changes = readFact(connection, 'changes')
  if (known?.changes === changes) return known
  const chunks = readFact(connection, 'chunks')
  return {
    changes,
    chunks,
    averageLength: chunks === 0 ? 1 : readFact(connection, 'length') / chunks,
    terms: readFact(connection, 'terms'),
    lengths: readNumbers(connection, 'lengths'),
    keys: readNumbers(connection, 'keys'),
    frequencies: readNumbers(connection, 'frequencies'),
  }
}
