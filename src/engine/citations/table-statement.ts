/**
 * Whether the tables of a passage bear a statement out. A row with the names of its columns is one place, two rows are not: what is said of
 * one must stand in its row. Where the columns are the things that are compared, each of them is a place like that. A statement about several
 * is judged part by part.
 */

import type { Comparison, PassageText, Place } from './comparison.ts'
import type { LikelyRow } from './likely-places.ts'
import { findingsOf, remember } from './findings.ts'
import { withLetters } from './key-letters.ts'
import { mentionsOf, saidOf } from './mentions.ts'
import { holds, isShared, weighRecord } from './one-record.ts'
import type { Setting } from './one-record.ts'
import { withoutCount } from './counted.ts'
import { groupsByPart, groupsInOrder, namedTogether } from './record-groups.ts'
import type { Group } from './record-groups.ts'
import { cellHas, isNumeric, viewsOf } from './records.ts'
import type { DataRecord } from './records.ts'
import { partsOf } from './segments.ts'
import type { Item, Parts } from './segments.ts'
import type { Table } from './tables.ts'
import type { Bag } from './word-forms.ts'

export interface TableWeighed {
  readonly place: Place
  readonly missing: readonly string[]
  readonly share: number
  /** Why it does not bear the statement out, however many of the words it has. */
  readonly problem: string | undefined
}

/** Words of a statement that is read against tables: a bound on the cost, beyond any sentence. */
const LONGEST_STATEMENT = 300
const TOO_LONG = { missing: [], share: 0, problem: 'too long to be checked against a table' }

export function weighTables(
  comparison: Comparison,
  passage: PassageText,
  said: Place,
  rows: readonly LikelyRow[],
  context: Bag,
): TableWeighed[] {
  if (rows.length === 0) return []
  if (said.to - said.from > LONGEST_STATEMENT) return rows.slice(0, 1).map(({ place }) => ({ place, ...TOO_LONG }))
  const parts = partsOf(comparison, said)
  const weighed: TableWeighed[] = []
  for (const table of new Set(rows.map(({ number }) => number.table))) {
    const own = rows.filter(({ number }) => number.table === table)
    const placeOf = new Map(own.map(({ number, place }) => [number.row ?? 0, place]))
    const found = passage.tables()[table]
    if (found === undefined) continue
    const weigh = (read: Parts): TableWeighed[] => weighTable(comparison, passage, found, placeOf, said, read, context)
    for (const one of weigh(parts)) weighed.push(one)
    // `David costs more than Anna: £95 versus £68`.
    if (parts.compared.length === parts.items.length) continue
    for (const one of weigh({ ...parts, items: parts.compared })) if (one.problem === undefined) weighed.push(one)
  }
  return weighed
}

function weighTable(
  comparison: Comparison,
  passage: PassageText,
  table: Table,
  placeOf: ReadonlyMap<number, Place>,
  place: Place,
  read: Parts,
  context: Bag,
): TableWeighed[] {
  const weighed: TableWeighed[] = []
  for (const view of viewsOf(passage, table)) {
    const likely = view.of === 'row' ? view.records.filter(({ index }) => placeOf.has(index)) : view.records
    const parts = withLetters(comparison.answer, place, read, view, likely)
    const records = view.of === 'row' ? likely : spokenOf(likely, parts.items)
    const key = view.of === 'column' ? 0 : keyColumn(records, parts.items)
    const said = mentionsOf(
      records.map(({ cells }) => cells[key]),
      parts.items,
      parts,
    )
    const keySaid = new Map(records.map((record, at) => [record, said[at]]))
    const findings = findingsOf(view.of === 'row' ? records : view.records, view, parts)
    const shared = remember((item: Item) => isShared(view, context, item))
    const setting = { comparison, passage, parts, view, records, key, keySaid, findings, isShared: shared }
    const placed = (record: DataRecord): Place | undefined =>
      view.of === 'row' ? placeOf.get(record.index) : placeInColumn(record, parts.items, placeOf)
    for (const record of records) {
      const place = placed(record)
      if (place !== undefined)
        weighed.push({ place, ...weighParts(setting, [{ records: [record], items: parts.items, keys: [] }]) })
    }
    const together = weighTogether(setting)
    const places = together?.records.flatMap((record) => placed(record) ?? []) ?? []
    const from = Math.min(...places.map((place) => place.from))
    const to = Math.max(...places.map((place) => place.to))
    if (together !== undefined && places.length > 0) weighed.push({ ...together.weighed, place: { from, to } })
  }
  return weighed
}

/** Columns are what a statement is about when it says their names in full and these are names, not the words for what a row has. */
function spokenOf(records: readonly DataRecord[], items: readonly Item[]): DataRecord[] {
  return records.filter(({ cells: [key] }) => {
    const said = key === undefined ? undefined : saidOf(key, items)
    return said?.some(({ kind, opens, isCapital }) => (kind !== 'word' && kind !== 'pair') || (opens && isCapital)) === true
  })
}

/** The rows of a column that hold what is said of it. */
function placeInColumn({ cells }: DataRecord, items: readonly Item[], placeOf: ReadonlyMap<number, Place>): Place | undefined {
  const rows = cells.flatMap((cell, at) => (at > 0 && items.some((item) => cellHas(cell, item)) ? [placeOf.get(at - 1)] : []))
  const places = (rows.some((place) => place !== undefined) ? rows : [...placeOf.values()]).filter((place) => place !== undefined)
  const [first] = places
  if (first === undefined) return undefined
  return { from: Math.min(...places.map(({ from }) => from)), to: Math.max(...places.map(({ to }) => to)) }
}

function weighParts(setting: Setting, groups: readonly Group[]): Omit<TableWeighed, 'place'> {
  const { parts, findings } = setting
  const missing = new Set<Item>()
  let problem: string | undefined
  let inherited: ReadonlySet<number> = new Set<number>()
  for (const { records, items, keys } of groups) {
    for (const record of records) {
      const own =
        records.length > 1 || keys.length > 0
          ? items.filter(
              (item) => (!keys.includes(item) || holds(setting, record, item)) && !isReferredTo(setting, groups, record, item),
            )
          : items
      const result = weighRecord(setting, record, own, inherited)
      for (const item of result.missing) missing.add(item)
      problem ??= result.problem
    }
    const named = findings.naming(items).map(({ column }) => column)
    if (named.length > 0) inherited = new Set(named)
  }
  const words = [...missing].map(({ said }) => said)
  return { missing: words, share: parts.items.length === 0 ? 0 : 1 - missing.size / parts.items.length, problem }
}

/** `Bo's manager is Ann (1)`: the number is in Bo's row what the column of managers holds, and in that of Ann her own. */
function isReferredTo({ view }: Setting, groups: readonly Group[], record: DataRecord, item: Item): boolean {
  const [own] = record.cells
  if ((item.kind !== 'number' && item.kind !== 'code') || own === undefined || !cellHas(own, item)) return false
  return groups.some(({ records, items }) =>
    records.some(
      (other) =>
        other !== record &&
        other.cells.some((cell, column) => {
          const name = view.names[column]
          return column > 0 && name !== undefined && cellHas(cell, item) && items.some((one) => cellHas(name, one))
        }),
    ),
  )
}

/** Numbers alone name a record only in the first column. */
function keyColumn(records: readonly DataRecord[], items: readonly Item[]): number {
  const width = Math.max(0, ...records.map(({ cells }) => cells.length))
  for (let column = 0; column < width; column++) {
    const cells = records.flatMap((record) => record.cells[column] ?? [])
    if (cells.some((cell) => !isNumeric(cell) && saidOf(cell, items) !== undefined)) return column
  }
  return 0
}

/** A statement about several records: each of its parts by the record that it names, or the values of one column in the order of the names. */
function weighTogether(
  whole: Setting,
): { readonly records: readonly DataRecord[]; readonly weighed: Omit<TableWeighed, 'place'> } | undefined {
  const spoken = namedTogether(whole)
  if (spoken.length < 2) return undefined
  const setting = withoutCount(whole, spoken)
  const records = [...new Set(spoken.flatMap(({ among }) => among))]
  const byPart = groupsByPart(setting, spoken)
  const weighed = weighParts(setting, byPart)
  if (weighed.problem === undefined) return { records: [...new Set(byPart.flatMap((group) => group.records))], weighed }
  const inOrder = groupsInOrder(setting, spoken)
  const ordered = inOrder === undefined ? undefined : weighParts(setting, inOrder)
  return ordered === undefined || ordered.problem !== undefined ? { records, weighed } : { records, weighed: ordered }
}
