/** What counts for a unit although it stands outside: the headings above it, the question or lead-in before it, its table row. */

import type { Question } from './question.ts'
import { either } from './share.ts'
import { LEAD_IN } from './sentences.ts'
import type { Unit } from './unit.ts'

/** For each term of the question how well it is said, 0 to 1. */
export interface Context {
  /** By what belongs to the unit: the line that it answers or begins under, its row, the name of its column. */
  readonly close: readonly number[]
  /** By the title and the headings further up. */
  readonly wide: readonly number[]
}

type Said = (unit: Unit) => number[]

/**
 * @param said how well each term is said within one unit.
 * @param columns the same for the names of columns that stand above the whole passage.
 */
export function readContexts(
  { terms }: Question,
  units: readonly Unit[],
  title: readonly number[],
  said: Said,
  columns: readonly (readonly number[])[],
): Context[] {
  const nothing = terms.map(() => 0)
  const above: { level: number; found: readonly number[] }[] = []
  const rows = readRows(units, said, columns)
  return units.map((unit, index) => {
    const { level } = unit
    if (unit.kind === 'sentence' && units[index - 1]?.level !== LEAD_IN) drop(above, LEAD_IN)
    if (level !== undefined) drop(above, level)
    if (unit.under !== undefined) drop(above, unit.under)
    const follows = units[index - 1]?.level !== undefined && level === undefined
    const own = follows ? above.at(-1) : undefined
    const further = own === undefined ? above : above.slice(0, -1)
    const wide = further.reduce<readonly number[]>((sum, { found }) => either(sum, found), title)
    if (level !== undefined) above.push({ level, found: said(unit) })
    return { close: either(own?.found ?? nothing, rows.get(unit) ?? nothing), wide }
  })
}

function drop(above: { level: number }[], level: number): void {
  while ((above.at(-1)?.level ?? 0) >= level) above.pop()
}

/** For each cell what the other cells of its row and the name of its column say. */
function readRows(units: readonly Unit[], said: Said, given: readonly (readonly number[])[]): Map<Unit, number[]> {
  const found = new Map<Unit, number[]>()
  const columns = columnNames(said, given)
  let row: Unit[] = []
  const finish = (): void => {
    const all = row.map(said)
    const whole = all.reduce<number[]>((sum, one) => either(sum, one), all[0] ?? [])
    for (const cell of row) {
      const name = columns.of(cell)
      found.set(cell, name === undefined ? whole : either(whole, name))
    }
    row = []
  }
  for (const unit of units) {
    if (unit.block !== row[0]?.block) finish()
    columns.read(unit)
    if (unit.kind === 'row') row.push(unit)
  }
  finish()
  return found
}

interface ColumnNames<Name> {
  readonly read: (unit: Unit) => void
  /** What the name of its column says. */
  readonly of: (cell: Unit) => Name | undefined
  /** What each name says, by the number of its column. */
  readonly all: () => ReadonlyMap<number, Name>
}

/** The names of the columns of the table that is being read, unit by unit; those above the passage where it has none of its own. */
export function columnNames<Name>(said: (unit: Unit) => Name, given: readonly Name[]): ColumnNames<Name> {
  const names = new Map<number, Name>()
  const namesAbove = new Map(given.entries())
  let block: number | undefined
  return {
    read(unit) {
      if (unit.kind === 'row') return
      if (unit.kind !== 'columns' || unit.block !== block) names.clear()
      block = unit.block
      if (unit.kind === 'columns') names.set(unit.column ?? -1, said(unit))
    },
    of: ({ column }) => (names.size > 0 ? names : namesAbove).get(column ?? -1),
    all: () => (names.size > 0 ? names : namesAbove),
  }
}
