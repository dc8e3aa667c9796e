/** Which cells of a table may be quoted: one of each row that the question may mean. */

import { columnNames } from './context.ts'
import { either } from './share.ts'
import type { Unit } from './unit.ts'

export interface TableView {
  /** How well each term of the question is said within one cell, or by the name of a column. */
  readonly said: (cell: Unit) => readonly number[]
  /** The same for the names of columns that stand above the whole passage. */
  readonly saidAbove: readonly (readonly number[])[]
  /** The same for the headings above the cell. */
  readonly around: (cell: Unit) => readonly number[]
  /** How much the question asks for a column of this name, from 0 on. */
  readonly asked: (column: Unit) => number
  /** The same for the names of columns that stand above the whole passage. */
  readonly askedAbove: readonly number[]
  /** The question says all of the cell itself. */
  readonly isGiven: (cell: Unit) => boolean
  /** How much the cell looks like what is asked for, 0 to 1. */
  readonly look: (cell: Unit) => number
  /** The cell names something else than what the question names: the blue chair, and not the red one. Of these terms nothing says any. */
  readonly isOther: (cell: Unit, unsaid: readonly boolean[]) => boolean
  /** The name of a column holds a number that the question does not say. */
  readonly hasOtherNumber: (column: Unit) => boolean
  /** The same for the names of columns that stand above the whole passage. */
  readonly otherNumberAbove: readonly boolean[]
  /** Terms that a table need not say. */
  readonly dispensable: readonly boolean[]
  /** Terms that are numbers. */
  readonly numbers: readonly boolean[]
}

/** What the names of the columns say, and how much the question asks for each. */
interface ColumnView {
  readonly said: readonly number[]
  readonly asked: number
  readonly hasOtherNumber: boolean
}

/** A row that the question may mean, and which terms neither it nor what stands above says. */
interface Meant {
  readonly row: readonly Unit[]
  readonly unsaid: readonly boolean[]
}

/**
 * Of each row the cell in the asked column, else the one that looks like an answer, else the longest; never what the question says itself.
 *
 * @returns with each cell whether the question asks for its column.
 */
export function tellingCells(units: readonly Unit[], view: TableView): Map<Unit, { readonly isAsked: boolean }> {
  const { said, asked, isGiven, look } = view
  const telling = new Map<Unit, { isAsked: boolean }>()
  const columns = columnNames<ColumnView>(
    (unit) => ({ said: said(unit), asked: asked(unit), hasOtherNumber: view.hasOtherNumber(unit) }),
    view.askedAbove.map((one, index) => ({
      said: view.saidAbove[index] ?? [],
      asked: one,
      hasOtherNumber: view.otherNumberAbove[index] === true,
    })),
  )
  let table: Unit[][] = []
  const finish = (): void => {
    if (table.length === 0) return
    const names = columns.all()
    for (const { row, unsaid } of meant(table, [...names.values()], view)) {
      const present = new Set(row.map(({ column }) => column))
      const missing = [...names].filter(([column]) => !present.has(column)).map(([, name]) => name.asked)
      const open = row.filter((cell) => !isGiven(cell)).map((cell) => columns.of(cell)?.asked ?? 0)
      const mostMissed = largest(missing)
      // What is asked for is the cell that is empty: no other takes its place.
      if (mostMissed > 0 && mostMissed >= largest(open)) continue
      const worths = row.map((cell) => {
        const length = Math.min(1, (cell.end - cell.start) / LONG_CELL)
        if (isGiven(cell)) return length - 2
        const name = columns.of(cell)?.asked ?? 0
        return (name > 0 ? 1 + name : look(cell) * LOOKS_RIGHT) + length / 10
      })
      const best = row[worths.indexOf(largest(worths, -Infinity))]
      const column = best === undefined ? undefined : columns.of(best)
      // The figure of 2023 is none of 2022.
      if (column?.hasOtherNumber === true && unsaid.some((is, term) => is && view.numbers[term] === true)) continue
      if (best !== undefined) telling.set(best, { isAsked: (column?.asked ?? 0) > 0 })
    }
    table = []
  }
  for (const unit of units) {
    if (unit.kind !== 'row') {
      finish()
      columns.read(unit)
    } else if (unit.block === table.at(-1)?.[0]?.block) table.at(-1)?.push(unit)
    else table.push([unit])
  }
  finish()
  return telling
}

/** A row may have more cells than a function takes arguments. */
function largest(numbers: readonly number[], least = 0): number {
  return numbers.reduce((most, number) => Math.max(most, number), least)
}

/** Characters from which a longer cell tells no more. */
const LONG_CELL = 1000
/** More than any length, less than any name of a column. */
const LOOKS_RIGHT = 0.9

/**
 * The rows that the question may mean: none where it names something that no row is called, although all of them are about the same.
 *
 * Who asks for E31 does not mean E07, and who asks for Dublin none of London, Paris and Berlin.
 */
function meant(table: readonly Unit[][], names: readonly ColumnView[], view: TableView): Meant[] {
  const found = table.map((row) => row.map(view.said).reduce(either))
  const rows = notOutdone(table, found)
  if (names.length === 0) return rows.map((index) => ({ row: table[index] ?? [], unsaid: [] }))
  // What every row says chooses none.
  const common = found.reduce((all, one) => all.map((strength, term) => Math.min(strength, one[term] ?? 0)), found[0] ?? [])
  const isAlone = table.length === 1
  return rows.flatMap((index) => {
    const row = table[index] ?? []
    const own = found[index] ?? []
    const everywhere = [view.around(row[0] ?? NOWHERE), ...names.map(({ said }) => said)].reduce(either, own)
    const unsaid = everywhere.map((strength, term) => strength <= 0 && view.dispensable[term] !== true)
    if (!unsaid.includes(true)) return [{ row, unsaid }]
    const isChosen = own.some((strength, term) => strength > 0 && (isAlone || strength > (common[term] ?? 0)))
    return isChosen && !row.some((cell) => view.isOther(cell, unsaid)) ? [{ row, unsaid }] : []
  })
}

const NOWHERE: Unit = { start: 0, end: 0, kind: 'row', block: -1 }

/** Numbers of the rows without those that say only a part of what another row of the table says. */
function notOutdone(table: readonly Unit[][], found: readonly (readonly number[])[]): number[] {
  const kinds = new Map(found.map((strengths) => [strengths.join(), strengths]))
  const outdone = new Set(
    [...kinds].filter(([, own]) => [...kinds.values()].some((other) => outdoes(other, own))).map(([kind]) => kind),
  )
  return [...table.keys()].filter((index) => !outdone.has(found[index]?.join() ?? ''))
}

/** Says each term as well, and one in full that the other does not say at all. */
function outdoes(other: readonly number[], own: readonly number[]): boolean {
  return (
    other.every((strength, term) => strength >= (own[term] ?? 0)) &&
    other.some((strength, term) => strength === 1 && (own[term] ?? 0) === 0)
  )
}
