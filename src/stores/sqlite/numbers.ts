/** Lists of numbers by id (of a chunk or of a term), kept in pages: one row holds the numbers of 1,024 ids. */

import type { Connection } from '../../util/sqlite/connection.ts'

const PAGE = 1024

/**
 * - `lengths`: terms of each chunk, weighted by field; 0 for a chunk that is not there (any more), whose postings must not count.
 * - `keys`: order chunks of equal score.
 * - `frequencies`: chunks that have each term; 0 for a term that no chunk has.
 */
export type NumberList = 'lengths' | 'keys' | 'frequencies'

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
