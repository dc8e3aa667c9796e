/**
 * An inverted index in a table: for each key the ids that have it, ascending, in blocks.
 *
 * A block is a range of ids. What is added becomes a block of its own; small blocks at the end are joined to larger ones, so that a key
 * has few rows and each id is written a fixed number of times. No block crosses a multiple of `LARGEST`.
 */

import type { Connection } from '../../util/sqlite/connection.ts'
import { encode, Postings } from './postings.ts'

/** Blocks at the end that are smaller than a step are joined when together they reach it. */
const STEPS = [64, 512]
const LARGEST = 16_384
/** Before a range is full, fewer rows of a key are not worth joining. */
const ROWS_TO_JOIN = 4

export type Key = number | string

/** What one id has: its keys with their counts. */
export type Entry = readonly [id: number, keys: ReadonlyMap<Key, number>]

interface Block {
  readonly base: number
  readonly size: number
}

interface Row {
  readonly base: number
  readonly data: Uint8Array
}

/** A part of a list, end exclusive. */
export interface Range {
  readonly from: number
  readonly to: number
}

export class InvertedIndex {
  readonly #connection: Connection
  readonly #table: 'postings' | 'grams'
  readonly #sql: Statements
  /** The keys of all ids in a range that are still there. */
  readonly #keysIn: (first: number, end: number) => Iterable<Key>

  constructor(connection: Connection, table: 'postings' | 'grams', keysIn: (first: number, end: number) => Iterable<Key>) {
    this.#connection = connection
    this.#table = table
    this.#sql = statements(table)
    this.#keysIn = keysIn
  }

  /** Reads the list of a key to the end of `into`. */
  read(key: Key, into: Postings): void {
    const rows = this.#connection.all<Row>(this.#sql.list, [key])
    for (const { base, data } of rows) into.read(base, data)
  }

  /** Reads the lists of several keys to the end of `into`, one after the other; says where each stands there. */
  readAll(keys: readonly number[], into: Postings): Map<Key, Range> {
    const ranges = new Map<Key, Range>()
    const rows = this.#connection.all<Row & { readonly key: Key }>(this.#sql.lists, [JSON.stringify(keys)])
    for (const { key, base, data } of rows) {
      const from = ranges.get(key)?.from ?? into.size
      into.read(base, data)
      ranges.set(key, { from, to: into.size })
    }
    return ranges
  }

  /** Adds ids that are higher than all there were, ascending. Inside a transaction. */
  add(entries: readonly Entry[]): void {
    let from = 0
    while (from < entries.length) {
      const base = entries[from]?.[0] ?? 0
      const end = rangeOf(base) + LARGEST
      let to = from
      while (to < entries.length && (entries[to]?.[0] ?? end) < end) to++
      this.#joinRangeBefore(base)
      this.#write(base, entries.slice(from, to))
      from = to
    }
  }

  /** Takes ids out of the lists of keys. Inside a transaction. */
  remove(gone: ReadonlyMap<Key, ReadonlySet<number>>): void {
    const [list, kept] = [new Postings(), new Postings()]
    for (const key of sorted(gone.keys())) {
      const ids = gone.get(key) ?? new Set()
      let [first, last] = [Infinity, -Infinity]
      for (const id of ids) [first, last] = [Math.min(first, id), Math.max(last, id)]
      for (const { base, data } of this.#connection.all<Row>(this.#sql.rowsOf, [key, key, first, last])) {
        list.clear()
        list.read(base, data)
        kept.clear()
        for (let at = 0; at < list.size; at++) {
          const id = list.ids[at] ?? 0
          if (!ids.has(id)) kept.add(id, list.counts[at] ?? 1)
        }
        if (kept.size === 0) this.#connection.run(this.#sql.deleteRange, [key, base, base + 1])
        else if (kept.size < list.size) this.#put(key, base, kept)
      }
    }
  }

  /** Takes out a key with all its ids. Inside a transaction. */
  forget(key: Key): void {
    this.#connection.run(this.#sql.deleteKey, [key])
  }

  #write(base: number, entries: readonly Entry[]): void {
    const lists = new Map<Key, number[]>()
    for (const [id, keys] of entries) {
      for (const [key, count] of keys) {
        const list = lists.get(key)
        if (list === undefined) lists.set(key, [id, count])
        else list.push(id, count)
      }
    }
    const postings = new Postings()
    for (const key of sorted(lists.keys())) {
      postings.clear()
      const list = lists.get(key) ?? []
      for (let at = 0; at < list.length; at += 2) postings.add(list[at] ?? 0, list[at + 1] ?? 1)
      this.#put(key, base, postings)
    }
    const size = (entries.at(-1)?.[0] ?? base) + 1 - base
    this.#connection.run('INSERT INTO blocks (list, base, size) VALUES (?, ?, ?)', [this.#table, base, size])
    this.#joinSmall(base + size)
  }

  /** Joins the blocks of the range before `base`, once there is one after it. */
  #joinRangeBefore(base: number): void {
    const last = this.#connection.get<Block>('SELECT base, size FROM blocks WHERE list = ? ORDER BY base DESC LIMIT 1', [
      this.#table,
    ])
    if (last === undefined || rangeOf(last.base) === rangeOf(base)) return
    this.#merge(this.#blocksFrom(rangeOf(last.base)), last.base + last.size, 2)
  }

  #joinSmall(end: number): void {
    const blocks = this.#blocksFrom(rangeOf(end - 1))
    for (const step of STEPS) {
      const larger = blocks.findIndex(({ size }) => size >= step)
      const small = larger === -1 ? blocks : blocks.slice(0, larger)
      const first = small.at(-1)
      if (first === undefined || end - first.base < step) continue
      this.#merge(small, end, ROWS_TO_JOIN)
      blocks.splice(0, small.length, { base: first.base, size: end - first.base })
    }
  }

  /** The last first. */
  #blocksFrom(base: number): Block[] {
    return this.#connection.all<Block>('SELECT base, size FROM blocks WHERE list = ? AND base >= ? ORDER BY base DESC', [
      this.#table,
      base,
    ])
  }

  /** Makes one block of several that follow each other, the last first; leaves keys alone that have fewer than `least` rows. */
  #merge(blocks: readonly Block[], end: number, least: number): void {
    const base = blocks.at(-1)?.base
    if (base === undefined || blocks.length < 2) return
    const occurrences = new Map<Key, number>()
    for (const key of this.#keysIn(base, end)) occurrences.set(key, (occurrences.get(key) ?? 0) + 1)
    const frequent = [...occurrences].filter(([, count]) => count >= least).map(([key]) => key)
    const list = new Postings()
    for (const key of sorted(frequent)) {
      const rows: Row[] = this.#connection.all<Row>(this.#sql.range, [key, base, end])
      // A row says itself where it begins.
      if (rows.length < least) continue
      list.clear()
      for (const row of rows) list.read(row.base, row.data)
      this.#connection.run(this.#sql.deleteRange, [key, base, end])
      this.#put(key, base, list)
    }
    this.#connection.run('DELETE FROM blocks WHERE list = ? AND base > ? AND base < ?', [this.#table, base, end])
    this.#connection.run('UPDATE blocks SET size = ? WHERE list = ? AND base = ?', [end - base, this.#table, base])
  }

  #put(key: Key, base: number, list: Postings): void {
    this.#connection.run(this.#sql.put, [key, base, encode(base, list)])
  }
}

/** Where the range begins that an id lies in. */
function rangeOf(id: number): number {
  return id - (id % LARGEST)
}

interface Statements {
  readonly list: string
  readonly lists: string
  readonly range: string
  readonly rowsOf: string
  readonly deleteKey: string
  readonly deleteRange: string
  readonly put: string
}

function statements(table: string): Statements {
  return {
    list: `SELECT base, data FROM ${table} WHERE key = ? ORDER BY base`,
    lists: `SELECT key, base, data FROM ${table} WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key, base`,
    range: `SELECT base, data FROM ${table} WHERE key = ? AND base >= ? AND base < ? ORDER BY base`,
    // A row says where it begins, and not where it ends: the one that may hold the first id begins before it.
    rowsOf: `SELECT base, data FROM ${table}
      WHERE key = ? AND base >= coalesce((SELECT max(base) FROM ${table} WHERE key = ? AND base <= ?), 0) AND base <= ? ORDER BY base`,
    deleteKey: `DELETE FROM ${table} WHERE key = ?`,
    deleteRange: `DELETE FROM ${table} WHERE key = ? AND base >= ? AND base < ?`,
    put: `INSERT OR REPLACE INTO ${table} (key, base, data) VALUES (?, ?, ?)`,
  }
}

/** In the order of the table, whose pages are then written one after the other. */
function sorted<K extends Key>(keys: Iterable<K>): K[] {
  return [...keys].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
