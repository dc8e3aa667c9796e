/**
 * Length and tie key of every chunk, in pages of fixed size. A length of 0 is that of a chunk which is not there (any more): its postings
 * may still exist and must not count.
 */

import type { Connection } from '../../util/sqlite/connection.ts'

const PAGE = 1024
const LONGEST = 0xffff
const KEYS_AT = PAGE * Uint16Array.BYTES_PER_ELEMENT
const PAGE_BYTES = KEYS_AT + PAGE * Uint32Array.BYTES_PER_ELEMENT

export interface ChunkLength {
  readonly id: number
  readonly length: number
  readonly key: number
}

/** What a chunk of so many terms counts as: even one of stop words is there. */
export function storedLength(length: number): number {
  return Math.min(Math.max(1, length), LONGEST)
}

/** Both by chunk id. */
export interface Lengths {
  readonly lengths: Uint16Array
  readonly keys: Uint32Array
}

interface Row {
  readonly page: number
  readonly data: Uint8Array
}

export function readLengths(connection: Connection): Lengths {
  const last = connection.get<{ page: number | null }>('SELECT max(page) AS page FROM lengths')?.page ?? -1
  const lengths = new Uint16Array((last + 1) * PAGE)
  const keys = new Uint32Array((last + 1) * PAGE)
  for (const { page, data } of connection.all<Row>('SELECT page, data FROM lengths')) {
    const read = views(data)
    lengths.set(read.lengths, page * PAGE)
    keys.set(read.keys, page * PAGE)
  }
  return { lengths, keys }
}

/** Writes some lengths; inside a transaction. */
export function writeLengths(connection: Connection, changed: readonly ChunkLength[]): void {
  for (const [page, entries] of Map.groupBy(changed, ({ id }) => Math.floor(id / PAGE))) {
    const row = connection.get<Row>('SELECT page, data FROM lengths WHERE page = ?', [page])
    const data = new Uint8Array(PAGE_BYTES)
    if (row !== undefined) data.set(row.data)
    const { lengths, keys } = views(data)
    for (const { id, length, key } of entries) {
      lengths[id % PAGE] = length
      keys[id % PAGE] = key
    }
    if (lengths.some((length) => length > 0))
      connection.run('INSERT OR REPLACE INTO lengths (page, data) VALUES (?, ?)', [page, data])
    else connection.run('DELETE FROM lengths WHERE page = ?', [page])
  }
}

/** The two columns of a page. Copied where the bytes do not lie as the arrays need them. */
function views(data: Uint8Array): Lengths {
  const bytes = data.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? data : data.slice()
  return {
    lengths: new Uint16Array(bytes.buffer, bytes.byteOffset, PAGE),
    keys: new Uint32Array(bytes.buffer, bytes.byteOffset + KEYS_AT, PAGE),
  }
}
