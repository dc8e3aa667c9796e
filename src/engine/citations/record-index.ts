/** In which columns a record has a word: cells are found by what they hold, since every statement is held against every row. */

import { headOf } from './comparison.ts'
import { cellHas } from './records.ts'
import type { Cell, DataRecord } from './records.ts'
import { monthOf, numbersOf } from './terms.ts'
import type { Term } from './terms.ts'

const indexes = new WeakMap<DataRecord, ReadonlyMap<string, readonly number[]>>()

function indexOf(record: DataRecord): ReadonlyMap<string, readonly number[]> {
  const known = indexes.get(record)
  if (known !== undefined) return known
  const index = new Map<string, number[]>()
  for (const [column, cell] of record.cells.entries()) {
    for (const key of keysOfCell(cell)) {
      const columns = index.get(key)
      if (columns === undefined) index.set(key, [column])
      else if (columns.at(-1) !== column) columns.push(column)
    }
  }
  indexes.set(record, index)
  return index
}

function* keysOfCell({ bag, numbers, days, months, terms, elements }: Cell): Generator<string> {
  yield* bag.keys()
  for (const value of [...numbers, ...days]) yield `number ${value}`
  for (const month of months) yield `month ${month}`
  for (const { kind, word } of [terms, ...elements].flat())
    if (kind !== 'word' && kind !== 'name' && kind !== 'number') yield `${kind} ${word}`
}

/** A cell that has the term has one of these keys. */
export function keysOfTerm(term: Term): readonly string[] {
  const { kind, word, parts } = term
  if (kind === 'number') return [word, ...numbersOf(term)].map((value) => `number ${value}`)
  if (kind === 'code') return [`code ${word}`, headOf(parts[0] ?? word)]
  if (kind !== 'word' && kind !== 'name') return [`${kind} ${word}`]
  const month = monthOf(word)
  // A plural of three letters begins otherwise than its word.
  return [headOf(word), ...(word.length === 3 ? [`${word}s`] : []), ...(month === undefined ? [] : [`month ${month}`])]
}

/** @param keys those of the term. */
export function columnsWith(record: DataRecord, term: Term, keys: readonly string[]): readonly number[] {
  const index = indexOf(record)
  let likely: readonly number[] = NONE
  for (const key of keys) {
    const columns = index.get(key)
    if (columns !== undefined)
      likely = likely.length === 0 ? columns : [...new Set([...likely, ...columns])].sort((a, b) => a - b)
  }
  if (likely.length === 0) return NONE
  return likely.filter((column) => {
    const cell = record.cells[column]
    return cell !== undefined && cellHas(cell, term)
  })
}

const NONE: readonly number[] = []
