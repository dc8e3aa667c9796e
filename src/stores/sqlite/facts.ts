/**
 * Reads and writes the statistics of the index, single numbers and number lists by chunk or term, and reads the terms of chunks. Every query needs
 * the statistics, so they are cached.
 */

import type { Connection } from '../../util/sqlite/connection.ts'
import { RANKING } from '../rank/score.ts'
import type { CorpusSize } from '../rank/score.ts'
import { decodeNumbers } from './postings.ts'

/** The name of a single number about the index. */
export type Fact =
  /** Version of the analyzer that made the terms. */
  | 'analyzer'
  /** Number of chunks, and the sum of their lengths. */
  | 'chunks'
  | 'length'
  /** Number of distinct terms. */
  | 'terms'
  /** Increases with every transaction that changes the index. */
  | 'changes'
  /** Increases with every transaction that changes vectors. */
  | 'vector_changes'
  /** The next free ids. */
  | 'next_chunk'
  | 'next_term'
  | 'next_block'
  /** Number of ids removed from the index by compaction. */
  | 'compacted_chunks'
  | 'compacted_terms'

/** Returns 0 for a number that was never written. */
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
 * - `lengths`: terms of each chunk, weighted by field; 0 for a removed chunk, whose postings must be ignored.
 * - `keys`: tie-breakers for chunks of equal score.
 * - `frequencies`: number of chunks with each term; 0 for a term that no chunk has.
 */
type NumberList = 'lengths' | 'keys' | 'frequencies'

/** Ids per row. */
const PAGE = 1024

interface Row {
  readonly page: number
  readonly data: Uint8Array
}

/** Returns all numbers of a list by id; ids beyond its end count as 0. */
export function readNumbers(connection: Connection, list: NumberList): Uint32Array {
  const rows = connection.all<Row>('SELECT page, data FROM numbers WHERE list = ? ORDER BY page', [list])
  const numbers = new Uint32Array(((rows.at(-1)?.page ?? -1) + 1) * PAGE)
  const bytes = new Uint8Array(numbers.buffer)
  for (const { page, data } of rows) bytes.set(data, page * PAGE * Uint32Array.BYTES_PER_ELEMENT)
  return numbers
}

/**
 * Changes the number of each id. Call it inside a transaction.
 *
 * @param ids ascending. @param change returns the new number; `at` is the index of the id among them.
 * @returns the change in the count of numbers that are not 0.
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

/** The statistics of all chunks, as of the time when `changes` was read. */
export interface Corpus extends CorpusSize {
  /** The fact `changes`; the statistics are valid while it has this value. */
  readonly changes: number
  /** Number of distinct terms. */
  readonly terms: number
  /** The lists `lengths`, `keys` and `frequencies`, by id of the chunk or term. */
  readonly lengths: Uint32Array
  readonly keys: Uint32Array
  readonly frequencies: Uint32Array
}

/**
 * Reads the statistics of all chunks, inside the transaction of the query.
 *
 * @param known result of the last call, returned again while the index is unchanged.
 */
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

/** Separates the fields of a sequence: title, headings and text. No term has this number. */
export const MARK = 0
/** Weight of an occurrence, by field. */
export const WEIGHTS: readonly number[] = [RANKING.titleWeight, RANKING.headingWeight, 1]

/** Counts each term of a sequence, multiplied by the weight of title and headings. */
export function countTerms(sequence: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  let field = 0
  for (const term of sequence) {
    if (term === MARK) field++
    else counts.set(term, (counts.get(term) ?? 0) + (WEIGHTS[field] ?? 1))
  }
  return counts
}

/** The terms of chunks in order, with marks between the fields; each chunk is read once. */
export class Sequences {
  readonly #connection: Connection
  readonly #read = new Map<number, readonly number[]>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Reads the terms of several chunks with one statement. */
  load(ids: readonly number[]): void {
    const missing = ids.filter((id) => !this.#read.has(id))
    if (missing.length === 0) return
    const rows = this.#connection.all<{ id: number; terms: Uint8Array }>(
      'SELECT id, terms FROM sequences WHERE id IN (SELECT value FROM json_each(?))',
      [JSON.stringify(missing)],
    )
    for (const { id, terms } of rows) this.#read.set(id, decodeNumbers(terms))
  }

  /** Returns the terms of a chunk; an empty list if it is not in the index. */
  of(id: number): readonly number[] {
    this.load([id])
    return this.#read.get(id) ?? []
  }
}
