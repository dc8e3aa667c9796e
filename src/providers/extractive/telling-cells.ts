/** Which cells of a table may be quoted: one of each row that the question may mean. */

import { columnNames } from './context.ts'
import { either } from './share.ts'
import type { Unit } from './unit.ts'

export interface TableView {
  /** How well each term of the question is said within one cell. */
  readonly said: (cell: Unit) => readonly number[]
  /** How much the question asks for a column of this name, from 0 on. */
  readonly asked: (column: Unit) => number
  /** The same for the names of columns that stand above the whole passage. */
  readonly askedAbove: readonly number[]
  /** The question says all of the cell itself. */
  readonly isGiven: (cell: Unit) => boolean
  /** How much the cell looks like what is asked for, 0 to 1. */
  readonly look: (cell: Unit) => number
}

/** Of each row the cell in the asked column, else the one that looks like an answer, else the longest; never what the question says itself. */
export function tellingCells(units: readonly Unit[], { said, asked, askedAbove, isGiven, look }: TableView): Set<Unit> {
  const telling = new Set<Unit>()
  const columns = columnNames(asked, askedAbove)
  let table: Unit[][] = []
  const finish = (): void => {
    for (const row of notOutdone(table, said)) {
      const worths = row.map((cell) => {
        const length = Math.min(1, (cell.end - cell.start) / LONG_CELL)
        if (isGiven(cell)) return length - 2
        const name = columns.of(cell) ?? 0
        return (name > 0 ? 1 + name : look(cell) * LOOKS_RIGHT) + length / 10
      })
      const best = row[worths.indexOf(Math.max(...worths))]
      if (best !== undefined) telling.add(best)
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

/** Characters from which a longer cell tells no more. */
const LONG_CELL = 1000
/** More than any length, less than any name of a column. */
const LOOKS_RIGHT = 0.9

/** Without the rows that say only a part of what another row of the table says: who asks for E31 does not mean E07. */
function notOutdone(table: readonly Unit[][], said: TableView['said']): Unit[][] {
  const found = table.map((row) => row.map(said).reduce(either))
  const kinds = new Map(found.map((strengths) => [strengths.join(), strengths]))
  const outdone = new Set(
    [...kinds].filter(([, own]) => [...kinds.values()].some((other) => outdoes(other, own))).map(([kind]) => kind),
  )
  return table.filter((_, index) => !outdone.has(found[index]?.join() ?? ''))
}

/** Says each term as well, and one in full that the other does not say at all. */
function outdoes(other: readonly number[], own: readonly number[]): boolean {
  return (
    other.every((strength, term) => strength >= (own[term] ?? 0)) &&
    other.some((strength, term) => strength === 1 && (own[term] ?? 0) === 0)
  )
}
