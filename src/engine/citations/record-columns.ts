/** Whether a statement takes the values of a record from the columns that it names. */

import type { Findings } from './findings.ts'
import type { Naming } from './naming.ts'
import type { Cell, DataRecord, View } from './records.ts'
import { cellHas, MOST_ROWS } from './records.ts'
import type { Item, Parts } from './segments.ts'
import { agree } from './terms.ts'
import { bagHasFormOf } from './word-forms.ts'

/** @returns what is wrong, or `undefined`. @param inherited names the columns for a part that names none. */
export function columnProblem(
  items: readonly Item[],
  parts: Parts,
  record: DataRecord,
  view: View,
  key: number,
  inherited: ReadonlySet<number>,
  findings: Findings,
): string | undefined {
  const naming = findings.naming(items)
  const placed = items.map((item) => ({ item, columns: findings.columnsOf(record, item) }))
  // What the part before has named and said nothing of yet.
  let before = inherited
  let problem: string | undefined
  for (const part of new Set(items.map((item) => item.part))) {
    const inPart = placed.filter(({ item }) => item.part === part)
    const own = naming.filter(({ item }) => item.part === part)
    // `Uranus has 28 moons and Neptune 16`; what has words of its own names its column by them.
    const isShort = inPart.every(({ columns }) => columns.length > 0)
    const named = own.length > 0 ? new Set(own.map(({ column }) => column)) : isShort ? before : NONE
    const told = new Set(inPart.flatMap(({ columns }) => columns))
    before = new Set([...named].filter((column) => !told.has(column) && record.cells[column]?.says === undefined))
    problem ??= answerProblem(
      part,
      inPart.map(({ item }) => item),
      named,
      own,
      parts,
      record,
      view,
    )
    problem ??= misplaced(inPart, named, record, view, key)
  }
  // `The price and the weight are £119 and 1340 g`: one after the other.
  const list = listOf(naming, placed, record, key)
  if (list === undefined) return problem
  const wrong = list.find(({ value, column }) => !value.columns.includes(column))
  if (wrong === undefined) return undefined
  const [at = 0] = wrong.value.columns
  return problem ?? `“${wrong.value.item.said}” stands there under ${nameOf(view, at)}, not under ${nameOf(view, wrong.column)}`
}

function nameOf({ names }: View, column: number): string {
  return `“${names[column]?.text ?? ''}”`
}

const NONE: ReadonlySet<number> = new Set<number>()

interface Placed {
  readonly item: Item
  /** Where the record has it. */
  readonly columns: readonly number[]
}

/** A value out of a column that is not named, while nothing is said of a named one with values of the same kind. */
function misplaced(
  placed: readonly Placed[],
  named: ReadonlySet<number>,
  record: DataRecord,
  view: View,
  key: number,
): string | undefined {
  // Of a number the unit alone says nothing.
  const isSaidBy = (item: Item, column: number): boolean => item.kind === 'number' || record.cells[column]?.numbers.size === 0
  const said = new Set(placed.flatMap(({ item, columns }) => columns.filter((column) => isSaidBy(item, column))))
  // What stands before the key is what the whole record is: `the account of Karl`.
  const open = [...named].filter((column) => !said.has(column) && column > key && record.cells[column]?.says === undefined)
  for (const { item, columns } of placed) {
    if (columns.length === 0 || columns.some((column) => named.has(column) || column === key)) continue
    if (item.kind === 'word' && !columns.some((column) => isValue(record.cells[column], item))) continue
    // A word that names a column as well says nothing about where it stands.
    if (view.names.some((name) => name !== undefined && cellHas(name, item))) continue
    const [column = 0] = columns
    const isNumeric = item.kind === 'number'
    const other = open.find((at) => item.kind === 'word' || holdsNumbers(record, view, at) === isNumeric || isMixed(view, at))
    if (other === undefined) continue
    return `“${item.said}” stands there under ${nameOf(view, column)}, not under ${nameOf(view, other)}`
  }
  return undefined
}

/** The word is the cell, or an element of its list. */
function isValue(cell: Cell | undefined, item: Item): boolean {
  const all = cell === undefined ? [] : [cell.terms, ...cell.elements]
  return all.some(([first, ...rest]) => first !== undefined && rest.length === 0 && agree(first, item))
}

/** The column is a thing, of which the rows tell numbers and words. */
function isMixed({ records }: View, column: number): boolean {
  const kinds = records
    .slice(0, MOST_ROWS)
    .map(({ cells }) => cells[column])
    .filter((cell) => cell !== undefined && cell.terms.length > 0)
  return kinds.some((cell) => cell?.numbers.size === 0) && kinds.some((cell) => (cell?.numbers.size ?? 0) > 0)
}

/** Of an empty cell, what another one of its column holds. */
function holdsNumbers(record: DataRecord, { records }: View, column: number): boolean {
  const filled = [record, ...records.slice(0, MOST_ROWS)].find(({ cells }) => (cells[column]?.terms.length ?? 0) > 0)
  return (filled?.cells[column]?.numbers.size ?? 0) > 0
}

/** A cell that says yes or no to the name of its column. */
function answerProblem(
  part: number,
  items: readonly Item[],
  named: ReadonlySet<number>,
  naming: readonly Naming[],
  parts: Parts,
  record: DataRecord,
  view: View,
): string | undefined {
  for (const column of named) {
    const cell = record.cells[column]
    if (cell?.says === undefined) continue
    const contrary = naming.some((one) => one.column === column && one.isContrary)
    const lacks = parts.lacking.some(
      (one) => one.part === part && !view.names.some((name) => name !== undefined && bagHasFormOf(name.bag, one.word)),
    )
    const isJustNames = items.every((item) => naming.some((one) => one.item === item))
    const denies =
      // `does not exclude` says that it is there.
      (parts.denies[part] === true) !== lacks ||
      // `no Bluetooth or Wi-Fi`, in two parts.
      (isJustNames && parts.isContrasted[part] !== true && part > 0 && parts.denies[part - 1] === true)
    if ((denies !== contrary) === cell.says) return `“${cell.text}” stands there under ${nameOf(view, column)}`
  }
  return undefined
}

export function hasAnswers(record: DataRecord, named: Iterable<number>): boolean {
  return [...named].some((column) => record.cells[column]?.says !== undefined)
}

interface Listed {
  readonly value: Placed
  readonly column: number
}

/** Where a part names a column and says none of its values: the columns that are named beside as many values, in their order. */
function listOf(
  naming: readonly Naming[],
  placed: readonly Placed[],
  record: DataRecord,
  key: number,
): readonly Listed[] | undefined {
  const isOpen = (column: number): boolean => column !== key && record.cells[column]?.says === undefined
  const named = naming.filter(({ column }, at) => isOpen(column) && naming[at - 1]?.column !== column)
  const values = placed
    .filter(({ columns }) => columns.length > 0 && !columns.includes(key))
    .filter(({ columns }, at, all) => all[at - 1]?.columns.join() !== columns.join())
  const columns = new Set(named.map(({ column }) => column))
  const hasAlone = named.some(({ item }) => !values.some((value) => value.item.part === item.part))
  const isList =
    hasAlone &&
    columns.size > 1 &&
    columns.size === named.length &&
    named.length === values.length &&
    values.every((value) => value.columns.some((column) => columns.has(column)))
  return isList ? values.map((value, at) => ({ value, column: named[at]?.column ?? key })) : undefined
}
