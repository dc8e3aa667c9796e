/** A statement about several records of a table: which it names, and what it says of each. */

import { mentionsOf } from './mentions.ts'
import { holds } from './one-record.ts'
import type { Setting } from './one-record.ts'
import { cellHas, isNumeric } from './records.ts'
import type { DataRecord } from './records.ts'
import type { Item } from './segments.ts'

/** Items that one or several records have to hold, each of them all. */
export interface Group {
  readonly records: readonly DataRecord[]
  readonly items: readonly Item[]
  /** Items that name these records. */
  readonly keys: readonly Item[]
}

/** One thing that the statement names, and the records that are called so. */
export interface Spoken {
  readonly items: readonly Item[]
  readonly among: readonly DataRecord[]
}

/** The records that a statement is about, in the order in which it names them. */
export function namedTogether({ records, parts, view }: Setting): Spoken[] {
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
export function groupsByPart(setting: Setting, spoken: readonly Spoken[]): Group[] {
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
export function groupsInOrder(setting: Setting, spoken: readonly Spoken[]): Group[] | undefined {
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
