/**
 * Whether the tables of a passage bear a statement out. A row with the names of its columns is one place, two rows are not: what is said of
 * one must stand in its row. Where the columns are the things that are compared, each of them is a place like that. A statement about several
 * is judged part by part.
 */

import type { Comparison, PassageText, Place } from './comparison.ts'
import { contraryOf } from './contrary.ts'
import { denialProblem } from './denial.ts'
import type { LikelyRow } from './likely-places.ts'
import { mentionsOf, saidOf } from './mentions.ts'
import { columnProblem, hasAnswers, namingOf } from './record-columns.ts'
import { readWords } from './reading.ts'
import type { Cell, DataRecord, View } from './records.ts'
import { cellHas, LONGEST_LABEL, viewsOf } from './records.ts'
import { partsOf } from './segments.ts'
import type { Item, Parts } from './segments.ts'
import type { Table } from './tables.ts'
import { agree, monthOf, numbersOf } from './terms.ts'
import { bagHasFormOf } from './word-forms.ts'
import type { Bag } from './word-forms.ts'

export interface TableWeighed {
  readonly place: Place
  readonly missing: readonly string[]
  readonly share: number
  /** Why it does not bear the statement out, however many of the words it has. */
  readonly problem: string | undefined
}

interface Setting {
  readonly comparison: Comparison
  readonly passage: PassageText
  readonly context: Bag
  readonly parts: Parts
  readonly view: View
  /** Those that the statement may be about. */
  readonly records: readonly DataRecord[]
  /** The first column of which the statement says a cell: what it names records by. */
  readonly key: number
  /** The words of the statement that say this cell, for each of the records. */
  readonly keySaid: ReadonlyMap<DataRecord, readonly Item[] | undefined>
}

export function weighTables(
  comparison: Comparison,
  passage: PassageText,
  said: Place,
  rows: readonly LikelyRow[],
  context: Bag,
): TableWeighed[] {
  if (rows.length === 0) return []
  const parts = partsOf(comparison, said)
  const weighed: TableWeighed[] = []
  for (const table of new Set(rows.map(({ number }) => number.table))) {
    const own = rows.filter(({ number }) => number.table === table)
    const placeOf = new Map(own.map(({ number, place }) => [number.row ?? 0, place]))
    const found = passage.tables()[table]
    if (found !== undefined) for (const one of weighTable(comparison, passage, found, placeOf, parts, context)) weighed.push(one)
  }
  return weighed
}

function weighTable(
  comparison: Comparison,
  passage: PassageText,
  table: Table,
  placeOf: ReadonlyMap<number, Place>,
  parts: Parts,
  context: Bag,
): TableWeighed[] {
  const weighed: TableWeighed[] = []
  for (const view of viewsOf(passage, table)) {
    const records =
      view.of === 'row' ? view.records.filter(({ index }) => placeOf.has(index)) : spokenOf(view.records, parts.items)
    const key = view.of === 'column' ? 0 : keyColumn(records, parts.items)
    const said = mentionsOf(
      records.map(({ cells }) => cells[key]),
      parts.items,
      parts,
    )
    const keySaid = new Map(records.map((record, at) => [record, said[at]]))
    const setting = { comparison, passage, context, parts, view, records, key, keySaid }
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

/** Items that one or several records have to hold, each of them all. */
interface Group {
  readonly records: readonly DataRecord[]
  readonly items: readonly Item[]
  /** Items that name these records. */
  readonly keys: readonly Item[]
}

function weighParts(setting: Setting, groups: readonly Group[]): Omit<TableWeighed, 'place'> {
  const { parts, view } = setting
  const missing = new Set<Item>()
  let problem: string | undefined
  let inherited: ReadonlySet<number> = new Set<number>()
  for (const { records, items, keys } of groups) {
    for (const record of records) {
      const own =
        records.length > 1 || keys.length > 0
          ? items.filter((item) => !keys.includes(item) || holds(setting, record, item))
          : items
      const result = weighRecord(setting, record, own, inherited)
      for (const item of result.missing) missing.add(item)
      problem ??= result.problem
    }
    const named = namingOf(items, view.names, parts).map(({ column }) => column)
    if (named.length > 0) inherited = new Set(named)
  }
  const words = [...missing].map(({ said }) => said)
  return { missing: words, share: parts.items.length === 0 ? 0 : 1 - missing.size / parts.items.length, problem }
}

function holds({ view, context }: Setting, record: DataRecord, item: Item): boolean {
  return record.cells.some((cell) => cellHas(cell, item)) || isShared(view, context, item)
}

/** In the names of the columns, or in what stands above the table. */
function isShared({ names, captions }: View, context: Bag, item: Item): boolean {
  if ([...names, ...captions].some((cell) => cell !== undefined && cellHas(cell, item))) return true
  return item.kind === 'code' ? item.parts.every((part) => bagHasFormOf(context, part)) : bagHasFormOf(context, item.word)
}

function weighRecord(
  setting: Setting,
  record: DataRecord,
  items: readonly Item[],
  inherited: ReadonlySet<number>,
): { readonly missing: readonly Item[]; readonly problem: string | undefined } {
  const { parts, view, records } = setting
  const codes = items.filter(({ kind }) => kind === 'code')
  const missing = items.filter((item) => !holds(setting, record, item) && !isDigitsOfCode(record, item, codes))
  const others = (view.of === 'row' ? records : view.records).filter((other) => other !== record)
  const named = namingOf(items, view.names, parts)
  let problem = mixed(setting, record, others, items, missing)
  problem ??= otherKey(setting, record)
  problem ??= columnProblem(items, parts, record, view, setting.key, inherited)
  problem ??= contraryIn(record, missing, parts)
  problem ??= unnamed(setting, record, items, missing)
  if (!hasAnswers(record, [...inherited, ...named.map(({ column }) => column)])) problem ??= deniedIn(record, view, parts)
  return { missing, problem }
}

/** `Ticket 102` for `PAY-102`. */
function isDigitsOfCode({ cells }: DataRecord, item: Item, codes: readonly Item[]): boolean {
  if (item.kind !== 'number') return false
  const values = numbersOf(item)
  return cells.some((cell) => values.some((value) => cell.digits.has(value)) && !codes.some((code) => cellHas(cell, code)))
}

/** What the record does not hold and another one does: numbers, codes and names; of other words whole cells, or two of one cell. */
function mixed(
  setting: Setting,
  record: DataRecord,
  others: readonly DataRecord[],
  items: readonly Item[],
  missing: readonly Item[],
): string | undefined {
  const lost = new Set(missing)
  for (const item of missing) {
    const month = item.kind === 'name' || item.kind === 'word' ? monthOf(item.word) : undefined
    if (item.kind === 'number' || item.kind === 'code' || (month !== undefined && hasDates(record))) {
      const other = others.find(({ cells }) => cells.some((cell) => cellHas(cell, item)))
      return month === undefined || other !== undefined
        ? elsewhere(setting, record, item, other)
        : `“${item.said}” is not the month there`
    }
    if (item.kind !== 'name' && !item.opens) continue
    const other = others.find(({ cells }) => cells.some((cell) => cellHas(cell, item)))
    if (other !== undefined) return elsewhere(setting, record, item, other)
  }
  for (const other of others) {
    for (const cell of other.cells) {
      const whole = saidOf(cell, items)?.filter((item) => lost.has(item)) ?? []
      const two = missing.filter((item) => item.kind !== 'number' && cellHas(cell, item))
      const [first] = whole.length > 0 ? whole : two.length > 1 ? two : []
      if (first !== undefined) return inOther(setting, record, other, first, whole.length > 0 ? cell.text : first.said)
    }
  }
  return undefined
}

function hasDates({ cells }: DataRecord): boolean {
  return cells.some(({ months }) => months.size > 0)
}

function elsewhere(setting: Setting, record: DataRecord, item: Item, other: DataRecord | undefined): string {
  const { comparison, passage, view } = setting
  if (other !== undefined) return inOther(setting, record, other, item, item.said)
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

/** Numbers alone name a record only in the first column. */
function keyColumn(records: readonly DataRecord[], items: readonly Item[]): number {
  const width = Math.max(0, ...records.map(({ cells }) => cells.length))
  for (let column = 0; column < width; column++) {
    const cells = records.flatMap((record) => record.cells[column] ?? [])
    if (cells.some((cell) => !isNumeric(cell) && saidOf(cell, items) !== undefined)) return column
  }
  return 0
}

function isNumeric({ terms }: Cell): boolean {
  return terms.every(({ kind }) => kind === 'number')
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
  const touched = record.cells.filter((cell) => items.some((item) => cellHas(cell, item)))
  const stranger = missing.find(
    (item) => (item.opens && item.isCapital) || comparison.run(passage, item.at, item.at + 1) !== undefined,
  )
  return touched.length > 1 || stranger === undefined ? undefined : elsewhere(setting, record, stranger, undefined)
}

function deniedIn({ cells }: DataRecord, { names }: View, { words }: Parts): string | undefined {
  const place: string[] = []
  const begins = new Set<number>()
  for (const cell of [...names, ...cells]) {
    if (cell === undefined || cell.says !== undefined) continue
    begins.add(place.length)
    for (const word of cell.words) place.push(word)
  }
  return denialProblem(
    readWords(words),
    readWords(place, (at) => (begins.has(at) ? ',' : '')),
  )
}

/** A statement about several records: each of its parts by the record that it names, or the values of one column in the order of the names. */
function weighTogether(
  setting: Setting,
): { readonly records: readonly DataRecord[]; readonly weighed: Omit<TableWeighed, 'place'> } | undefined {
  const spoken = namedTogether(setting)
  if (spoken.length < 2) return undefined
  const records = [...new Set(spoken.flatMap(({ among }) => among))]
  const byPart = groupsByPart(setting, spoken)
  const weighed = weighParts(setting, byPart)
  if (weighed.problem === undefined) return { records: [...new Set(byPart.flatMap((group) => group.records))], weighed }
  const inOrder = groupsInOrder(setting, spoken)
  const ordered = inOrder === undefined ? undefined : weighParts(setting, inOrder)
  return ordered === undefined || ordered.problem !== undefined ? { records, weighed } : { records, weighed: ordered }
}

/** One thing that the statement names, and the records that are called so. */
interface Spoken {
  readonly items: readonly Item[]
  readonly among: readonly DataRecord[]
}

/** The records that a statement is about, in the order in which it names them. */
function namedTogether({ records, parts, view }: Setting): Spoken[] {
  const width = view.of === 'column' ? 1 : Math.max(0, ...records.map(({ cells }) => cells.length))
  let left = records
  for (const numeric of [false, true]) {
    for (let column = 0; column < width; column++) {
      const cells = left.map(({ cells: all }) => {
        const cell = all[column]
        return cell === undefined || cell.says !== undefined || isNumeric(cell) !== numeric ? undefined : cell
      })
      const mentions = mentionsOf(cells, parts.items, parts)
      const spoken = distinct(
        left.flatMap((record, at) => {
          const items = mentions[at]
          return items === undefined ? [] : [{ items, among: [record] }]
        }),
      )
      if (spoken.length > 1) return spoken.sort((a, b) => (a.items[0]?.at ?? 0) - (b.items[0]?.at ?? 0))
      if (spoken[0] !== undefined) left = spoken[0].among
    }
  }
  return []
}

/** Equal names are one; a name within another one is none. */
function distinct(spoken: readonly Spoken[]): Spoken[] {
  const byItems = new Map<string, Spoken>()
  for (const one of spoken) {
    const key = one.items.map(({ at }) => at).join()
    byItems.set(key, { items: one.items, among: [...(byItems.get(key)?.among ?? []), ...one.among] })
  }
  const all = [...byItems.values()]
  return all.filter(
    (one) => !all.some((other) => other.items.length > one.items.length && one.items.every((item) => other.items.includes(item))),
  )
}

/** Part by part: what names no record goes with the one before, names alone with what is said behind them, or else before them. */
function groupsByPart(setting: Setting, spoken: readonly Spoken[]): Group[] {
  const { parts } = setting
  const groups: { spoken: Spoken[]; items: Item[]; isOpen: boolean }[] = []
  const keys = new Set(spoken.flatMap(({ items }) => items))
  const numbers = [...new Set(parts.items.map(({ part }) => part))]
  let leading: Item[] = []
  for (const part of numbers) {
    const items = parts.items.filter((item) => item.part === part)
    const own = spoken.filter((one) => one.items[0]?.part === part)
    const rest = items.filter((item) => !keys.has(item))
    const last = groups.at(-1)
    if (own.length === 0) {
      if (last === undefined) leading.push(...rest)
      else {
        last.items.push(...rest)
        if (rest.length > 0) last.isOpen = false
      }
    } else if (last?.isOpen === true && parts.isContrasted[part] !== true) {
      last.spoken.push(...own)
      last.items.push(...rest)
      last.isOpen = rest.length === 0
    } else if (rest.length === 0 && last !== undefined && !last.isOpen && parts.isContrasted[part] !== true) {
      const isLast = !numbers.some((other) => other > part && parts.items.some((item) => item.part === other && !keys.has(item)))
      // `Rita owns PAY-101 and PAY-102`: the same is said of both.
      groups.push({ spoken: own, items: isLast ? [...last.items] : [], isOpen: !isLast })
    } else {
      groups.push({ spoken: own, items: [...leading, ...rest], isOpen: rest.length === 0 })
      leading = []
    }
  }
  return groups.map((group) => groupOf(setting, group.spoken, group.items))
}

/** Of several records that are called alike, the one that holds most of what is said. */
function groupOf(setting: Setting, spoken: readonly Spoken[], items: readonly Item[]): Group {
  const keys = spoken.flatMap((one) => one.items)
  const records = spoken.flatMap(({ among }) => {
    const counted = among.map((record) => ({ record, count: items.filter((item) => holds(setting, record, item)).length }))
    return counted
      .sort((a, b) => b.count - a.count)
      .slice(0, 1)
      .map(({ record }) => record)
  })
  return { records, items: [...keys, ...items].sort((a, b) => a.at - b.at), keys }
}

/** `The K1 and the K2 cost £79 and £99`: as many values of one column as records, in their order. */
function groupsInOrder(setting: Setting, spoken: readonly Spoken[]): Group[] | undefined {
  const { parts } = setting
  const keys = spoken.flatMap(({ items }) => items)
  const rest = parts.items.filter((item) => !keys.includes(item))
  const records = spoken.flatMap(({ among }) => among.slice(0, 1))
  const width = Math.max(0, ...records.map(({ cells }) => cells.length))
  for (let column = 0; column < width; column++) {
    const isIn = ({ cells }: DataRecord, item: Item): boolean => {
      const cell = cells[column]
      return cell !== undefined && cellHas(cell, item)
    }
    const values = rest.filter((item) => records.some((record) => isIn(record, item)))
    const said = records.map((record) => values.filter((item) => isIn(record, item)))
    const order = said.map((items) => items[0]?.at ?? Infinity)
    const isOrdered = order.every((at, index) => at < Infinity && at > (order[index - 1] ?? -1))
    if (!isOrdered || said.flat().length !== values.length) continue
    const common = rest.filter((item) => !values.includes(item))
    return records.map((record, at) => {
      const own = spoken[at]?.items ?? []
      return { records: [record], items: [...own, ...(said[at] ?? []), ...common].sort((a, b) => a.at - b.at), keys: own }
    })
  }
  return undefined
}
