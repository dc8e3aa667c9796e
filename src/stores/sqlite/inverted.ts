/**
 * An inverted index: for each key the ascending ids that have it, each with a count.
 *
 * The lists are kept in blocks, as the segments of a log-structured merge tree. A block covers a range of ids and is immutable: additions form a new
 * block, and four blocks of similar size are merged. Rows are ordered by block before key, so that writing appends to the file instead of
 * touching pages all over it; a lookup reads the key once in each block.
 */

import type { Connection } from '../../util/sqlite/connection.ts'
import { addToFact, readFact } from './facts.ts'
import { encode, Postings } from './postings.ts'

/** Blocks of similar size that are merged into one. */
const FAN = 4
/** Ids in the largest merged block; bounds the duration of a transaction. */
const LARGEST = 131_072
/** Rows of a block read at once during a merge; bounds memory. */
const ROWS = 512

export type Key = number | string

interface Block {
  readonly id: number
  readonly base: number
  /** Ids in the block that existed when it was written. */
  readonly size: number
}

interface Row {
  readonly key: Key
  readonly data: Uint8Array
}

/** A range within the read list, end exclusive. */
export interface ListPart {
  readonly from: number
  readonly to: number
}

export class InvertedIndex {
  readonly #connection: Connection
  readonly #list: 'postings' | 'grams'

  constructor(connection: Connection, list: 'postings' | 'grams') {
    this.#connection = connection
    this.#list = list
  }

  /** Appends the lists of several keys to `into`; returns the range of each. */
  read(keys: readonly Key[], into: Postings): Map<Key, ListPart> {
    const bases = new Map(this.#blocks().map(({ id, base }) => [id, base]))
    const rows = this.#connection.all<Row & { readonly block: number }>(
      `SELECT block, key, data FROM lists
       WHERE block IN (SELECT value FROM json_each(?)) AND key IN (SELECT value FROM json_each(?))`,
      [JSON.stringify([...bases.keys()]), JSON.stringify(keys)],
    )
    const baseOf = ({ block }: { readonly block: number }): number => bases.get(block) ?? 0
    const ranges = new Map<Key, ListPart>()
    for (const [key, ofKey] of Map.groupBy(rows, (row) => row.key)) {
      const from = into.size
      for (const row of ofKey.sort((a, b) => baseOf(a) - baseOf(b))) into.read(baseOf(row), row.data)
      ranges.set(key, { from, to: into.size })
    }
    return ranges
  }

  /**
   * Adds ids higher than all existing ones, as a new block. Call it inside a transaction.
   *
   * @param base the first id. @param size how many ids. @param lists by ascending key; each is read before the next is requested.
   */
  add(base: number, size: number, lists: Iterable<readonly [Key, Postings]>): void {
    this.#write(base, size, lists)
    for (;;) {
      const small = this.#smallest()
      if (small.length < FAN) return
      this.#merge(small, sizeOf(small), () => true)
    }
  }

  /** Merges all blocks into one with the ids to keep. Call it inside a transaction. @param size number of kept ids. */
  compact(size: number, keep: (id: number) => boolean): void {
    const blocks = this.#blocks()
    if (blocks.length > 0) this.#merge(blocks, size, keep)
  }

  #blocks(): Block[] {
    return this.#connection.all<Block>('SELECT id, base, size FROM blocks WHERE list = ? ORDER BY base', [this.#list])
  }

  /** Returns the trailing blocks no larger, by order of magnitude, than the last; none if they would be too large together. */
  #smallest(): Block[] {
    const blocks = this.#blocks()
    const largest = magnitude(blocks.at(-1))
    let from = blocks.length
    while (from > 0 && magnitude(blocks[from - 1]) <= largest) from--
    const small = blocks.slice(from)
    return sizeOf(small) <= LARGEST ? small : []
  }

  #write(base: number, size: number, lists: Iterable<readonly [Key, Postings]>): void {
    const block = readFact(this.#connection, 'next_block') + 1
    for (const [key, list] of lists) {
      this.#connection.run('INSERT INTO lists (block, key, data) VALUES (?, ?, ?)', [block, key, encode(base, list)])
    }
    this.#connection.run('INSERT INTO blocks (list, base, size, id) VALUES (?, ?, ?, ?)', [this.#list, base, size, block])
    addToFact(this.#connection, 'next_block', 1)
  }

  #merge(blocks: readonly Block[], size: number, keep: (id: number) => boolean): void {
    for (const { id } of blocks) this.#connection.run('DELETE FROM blocks WHERE id = ?', [id])
    if (size > 0) this.#write(blocks[0]?.base ?? 0, size, this.#merged(blocks, keep))
    for (const { id } of blocks) this.#connection.run('DELETE FROM lists WHERE block = ?', [id])
  }

  *#merged(blocks: readonly Block[], keep: (id: number) => boolean): Generator<readonly [Key, Postings]> {
    const cursors = blocks.map(({ id, base }) => ({ base, rows: this.#rows(id) }))
    const heads = cursors.map(({ rows }) => rows.next().value)
    const list = new Postings()
    const kept = new Postings()
    for (;;) {
      const key = heads.reduce<Key | undefined>((least, row) => lesser(least, row?.key), undefined)
      if (key === undefined) return
      list.clear()
      kept.clear()
      for (const [at, head] of heads.entries()) {
        if (head?.key !== key) continue
        const cursor = cursors[at]
        list.read(cursor?.base ?? 0, head.data)
        heads[at] = cursor?.rows.next().value
      }
      for (let at = 0; at < list.size; at++) {
        const id = list.ids[at] ?? 0
        if (keep(id)) kept.add(id, list.counts[at] ?? 1)
      }
      if (kept.size > 0) yield [key, kept]
    }
  }

  *#rows(block: number): Generator<Row, undefined> {
    let rows = this.#connection.all<Row>('SELECT key, data FROM lists WHERE block = ? ORDER BY key LIMIT ?', [block, ROWS])
    while (rows.length > 0) {
      yield* rows
      rows = this.#connection.all<Row>('SELECT key, data FROM lists WHERE block = ? AND key > ? ORDER BY key LIMIT ?', [
        block,
        rows.at(-1)?.key ?? 0,
        ROWS,
      ])
    }
    return undefined
  }
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { size }) => sum + size, 0)
}

function magnitude(block: Block | undefined): number {
  return Math.floor(Math.log(Math.max(1, block?.size ?? 0)) / Math.log(FAN))
}

/** Returns the key that sorts first in the table; `undefined` sorts last. */
function lesser(a: Key | undefined, b: Key | undefined): Key | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareKeys(a, b) <= 0 ? a : b
}

/** Compares as SQLite sorts: numbers, then texts by their bytes in UTF-8. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1
  if (typeof b === 'number') return 1
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x !== y) return x < SURROGATES || y < SURROGATES ? x - y : aboveOthers(x) - aboveOthers(y)
  }
  return a.length - b.length
}

const SURROGATES = 0xd8_00

/** Surrogates encode characters that sort after all characters of one unit. */
function aboveOthers(unit: number): number {
  return unit < 0xe0_00 ? unit + 0x1_00_00 : unit
}
