/** What the records of a table hold of one statement: each record is held against all others, so nothing is looked up twice. */

import { saidOf } from './mentions.ts'
import type { Naming } from './naming.ts'
import { namingOf } from './naming.ts'
import { readWords } from './reading.ts'
import type { Reading } from './reading.ts'
import { columnsWith, keysOfTerm } from './record-index.ts'
import type { Cell, DataRecord, View } from './records.ts'
import type { Item, Parts } from './segments.ts'

/** A cell that the words of a statement say as a whole, or of which they say several. */
export interface SaidCell {
  readonly record: DataRecord
  readonly cell: Cell
  /** The words that say all of it; none, where some is not said. */
  readonly whole: readonly Item[]
  /** Words of it that are said, numbers aside. */
  readonly held: readonly Item[]
}

export interface Findings {
  /** The columns where a record has an item. */
  readonly columnsOf: (record: DataRecord, item: Item) => readonly number[]
  /** The records that have an item. */
  readonly recordsWith: (item: Item) => readonly DataRecord[]
  readonly naming: (items: readonly Item[]) => readonly Naming[]
  readonly saidCells: (items: readonly Item[]) => readonly SaidCell[]
  /** The whole statement. */
  readonly statement: () => Reading
}

/** @param records those that are held against each other. */
export function findingsOf(records: readonly DataRecord[], { names }: View, parts: Parts): Findings {
  const columnsOf = remember((item: Item) => {
    const keys = keysOfTerm(item)
    return remember((record: DataRecord) => columnsWith(record, item, keys))
  })
  const saidCells = (record: DataRecord, items: readonly Item[]): SaidCell[] => {
    const columns = new Map<number, Item[]>()
    for (const item of items) {
      for (const column of columnsOf(item)(record)) columns.set(column, [...(columns.get(column) ?? []), item])
    }
    return [...columns]
      .sort(([a], [b]) => a - b)
      .flatMap(([column, all]) => {
        const cell = record.cells[column]
        const whole = cell === undefined ? [] : (saidOf(cell, items) ?? [])
        const held = all.filter(({ kind }) => kind !== 'number')
        return cell !== undefined && (whole.length > 0 || held.length > 1) ? [{ record, cell, whole, held }] : []
      })
  }
  let statement: Reading | undefined
  return {
    columnsOf: (record, item) => columnsOf(item)(record),
    recordsWith: remember((item: Item) => records.filter((record) => columnsOf(item)(record).length > 0)),
    naming: remember((items: readonly Item[]) => namingOf(items, names, parts)),
    saidCells: remember((items: readonly Item[]) => records.flatMap((record) => saidCells(record, items))),
    statement: () => (statement ??= readWords(parts.words)),
  }
}

export function remember<Key extends object, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = read(key)
    known.set(key, value)
    return value
  }
}
