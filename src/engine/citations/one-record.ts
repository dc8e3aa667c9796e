/** Whether one record of a table, a row or a column, bears out what is said. */

import type { Comparison, PassageText } from './comparison.ts'
import { contraryOf } from './contrary.ts'
import { contrastOf } from './lexicon.ts'
import { denialProblem } from './denial.ts'
import { readWords } from './reading.ts'
import type { Findings } from './findings.ts'
import { columnProblem, hasAnswers } from './record-columns.ts'
import { cellHas, isNumeric, LONGEST_LABEL } from './records.ts'
import type { Cell, DataRecord, View } from './records.ts'
import type { Item, Parts } from './segments.ts'
import { agree, monthOf, numbersOf } from './terms.ts'
import { bagHasFormOf } from './word-forms.ts'
import type { Bag } from './word-forms.ts'

export interface Setting {
  readonly comparison: Comparison
  readonly passage: PassageText
  readonly parts: Parts
  readonly view: View
  /** Those that the statement may be about. */
  readonly records: readonly DataRecord[]
  /** The first column of which the statement says a cell: what it names records by. */
  readonly key: number
  /** The words of the statement that say this cell, for each of the records. */
  readonly keySaid: ReadonlyMap<DataRecord, readonly Item[] | undefined>
  readonly findings: Findings
  /** It stands in the names of the columns, or in what stands above the table. */
  readonly isShared: (item: Item) => boolean
}

export function weighRecord(
  setting: Setting,
  record: DataRecord,
  items: readonly Item[],
  inherited: ReadonlySet<number>,
): { readonly missing: readonly Item[]; readonly problem: string | undefined } {
  const { parts, view, findings } = setting
  const codes = items.filter(({ kind }) => kind === 'code')
  const missing = items.filter((item) => !holds(setting, record, item) && !isDigitsOfCode(record, item, codes))
  const named = findings.naming(items)
  let problem = mixed(setting, record, items, missing)
  problem ??= otherKey(setting, record)
  problem ??= columnProblem(items, parts, record, view, setting.key, inherited, findings)
  problem ??= contraryIn(record, missing, parts)
  problem ??= unnamed(setting, record, items, missing)
  if (!hasAnswers(record, [...inherited, ...named.map(({ column }) => column)])) problem ??= deniedIn(setting, record)
  return { missing, problem }
}

export function holds({ findings, isShared }: Setting, record: DataRecord, item: Item): boolean {
  return findings.columnsOf(record, item).length > 0 || isShared(item)
}

/** In the names of the columns, or in what stands above the table. */
export function isShared({ names, captions }: View, context: Bag, item: Item): boolean {
  if ([...names, ...captions].some((cell) => cell !== undefined && cellHas(cell, item))) return true
  return item.kind === 'code' ? item.parts.every((part) => bagHasFormOf(context, part)) : bagHasFormOf(context, item.word)
}

/** `Ticket 102` for `PAY-102`. */
function isDigitsOfCode({ cells }: DataRecord, item: Item, codes: readonly Item[]): boolean {
  if (item.kind !== 'number') return false
  const values = numbersOf(item)
  return cells.some((cell) => values.some((value) => cell.digits.has(value)) && !codes.some((code) => cellHas(cell, code)))
}

/** What the record does not hold and another one does: numbers, codes and names; of other words whole cells, or two of one cell. */
function mixed(setting: Setting, record: DataRecord, items: readonly Item[], missing: readonly Item[]): string | undefined {
  const { findings } = setting
  const lost = new Set(missing)
  const otherWith = (item: Item): DataRecord | undefined => findings.recordsWith(item).find((other) => other !== record)
  for (const item of missing) {
    const month = item.kind === 'name' || item.kind === 'word' ? monthOf(item.word) : undefined
    if (item.kind === 'number' || item.kind === 'code' || item.kind === 'letter' || (month !== undefined && hasDates(record))) {
      const other = otherWith(item)
      return month === undefined || other !== undefined
        ? elsewhere(setting, record, item, other)
        : `“${item.said}” is not the month there`
    }
    if (item.kind !== 'name' && !item.opens) continue
    const other = otherWith(item)
    if (other !== undefined) return elsewhere(setting, record, item, other)
  }
  if (missing.length === 0) return undefined
  for (const { record: other, cell, whole, held } of findings.saidCells(items)) {
    if (other === record) continue
    const allOfIt = whole.find((item) => lost.has(item))
    const [first, second] = held.filter((item) => lost.has(item))
    if (allOfIt !== undefined) return inOther(setting, record, other, allOfIt, cell.text)
    if (first !== undefined && second !== undefined) return inOther(setting, record, other, first, first.said)
  }
  return undefined
}

function hasDates({ cells }: DataRecord): boolean {
  return cells.some(({ months }) => months.size > 0)
}

function elsewhere(setting: Setting, record: DataRecord, item: Item, other: DataRecord | undefined): string {
  const { comparison, passage, view } = setting
  if (other !== undefined) return inOther(setting, record, other, item, item.said)
  if (item.kind === 'letter') return `“${item.said}” is the name of nothing there`
  const last = item.kind === 'code' ? item.at + item.parts.length : item.at + 1
  const run = comparison.run(passage, item.at, last)
  return run !== undefined && run.to === last
    ? `“${item.said}” stands there, but not in the ${view.of} of “${labelOf(setting, record)}”`
    : `“${item.said}” is not in the passage`
}

function inOther(setting: Setting, record: DataRecord, other: DataRecord, item: Item, said: string): string {
  const { of } = setting.view
  const cell = other.cells[setting.key]
  if (cell === undefined || !cellHas(cell, item))
    return `“${said}” stands there, but in the ${of} of “${labelOf(setting, other)}”`
  const both = [record, other].sort((a, b) => a.index - b.index).map((one) => `“${labelOf(setting, one)}”`)
  return `put together from the ${of}s of ${both.join(' and ')}`
}

function labelOf(setting: Setting, { cells, label }: DataRecord): string {
  const text = cells[setting.key]?.text ?? ''
  return text === '' || text.length > LONGEST_LABEL ? label : text
}

/** Another record is named and this one is not: `K2 Pro` is what is said, and this is the record of `K2 Pro Max`. */
function otherKey({ view, records, key, keySaid }: Setting, record: DataRecord): string | undefined {
  const own = record.cells[key]
  if (own === undefined || own.terms.length === 0 || keySaid.get(record) !== undefined) return undefined
  const isPartOf = (a: Cell, b: Cell): boolean =>
    a.terms.length > 0 && a.terms.every((term) => b.terms.some((one) => agree(one, term)))
  for (const other of records) {
    const cell = other.cells[key]
    if (cell === undefined || keySaid.get(other) === undefined) continue
    // A record may well speak of another one.
    if (isPartOf(own, cell) || isPartOf(cell, own) || (!isNumeric(cell) && !record.cells.some((one) => isPartOf(cell, one))))
      return `it stands in the ${view.of} of “${own.text}”, not of “${cell.text}”`
  }
  return undefined
}

function contraryIn({ cells }: DataRecord, missing: readonly Item[], { words }: Parts): string | undefined {
  if (!missing.some(({ word }) => contrastOf(word) !== undefined)) return undefined
  const place = cells.flatMap((cell) => (cell.says === undefined ? cell.words : []))
  for (const { word, said, kind } of missing) {
    const contrary = kind === 'word' || kind === 'name' ? contraryOf(word, words, place) : undefined
    if (contrary !== undefined) return `says “${said}” where the passage has “${contrary}”`
  }
  return undefined
}

/** Of the record it has one value, and it opens with a name, or speaks of something in the passage, that the record does not have. */
function unnamed(setting: Setting, record: DataRecord, items: readonly Item[], missing: readonly Item[]): string | undefined {
  const { comparison, passage, view } = setting
  if (view.records.length < 2) return undefined
  const touched = new Set(items.flatMap((item) => setting.findings.columnsOf(record, item)))
  const stranger = missing.find(
    (item) => (item.opens && item.isCapital) || comparison.run(passage, item.at, item.at + 1) !== undefined,
  )
  return touched.size > 1 || stranger === undefined ? undefined : elsewhere(setting, record, stranger, undefined)
}

function deniedIn({ findings, view: { names } }: Setting, { cells }: DataRecord): string | undefined {
  const place: string[] = []
  const begins = new Set<number>()
  for (const cell of [...names, ...cells]) {
    if (cell === undefined || cell.says !== undefined) continue
    begins.add(place.length)
    for (const word of cell.words) place.push(word)
  }
  return denialProblem(
    findings.statement(),
    readWords(place, (at) => (begins.has(at) ? ',' : '')),
  )
}
