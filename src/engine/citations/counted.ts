/** `Two people work in Hull: Ann and Bo`: a count of the names behind it is no value of theirs. */

import type { Setting } from './one-record.ts'
import type { Spoken } from './record-groups.ts'
import { cellHas } from './records.ts'
import type { Item, Parts } from './segments.ts'
import { numbersOf } from './terms.ts'

/** Behind these a number counts, while `with two` and `costs two` tell a value. */
const COUNTING =
  /^(?:are|were|have|has|the|these|those|only|all|es|gibt|sind|waren|haben|die|diese|nur|alle|sont|ont|a|les|ces|seulement|hay|son|los|las|estos|estas)$/

/** The statement without the number that says how many records it names, if it says so before it names them. */
export function withoutCount(setting: Setting, spoken: readonly Spoken[]): Setting {
  const { parts } = setting
  const first = Math.min(...spoken.flatMap(({ items }) => items.map(({ part }) => part)))
  const firstWord = Math.min(...spoken.flatMap(({ items }) => items.map(({ at }) => at)))
  const count = String(spoken.length)
  const isCount = (item: Item): boolean =>
    item.kind === 'number' &&
    (item.part < first || isListed(parts, item, firstWord)) &&
    numbersOf(item).includes(count) &&
    (item.opens || COUNTING.test(wordBefore(parts, item) ?? '')) &&
    !countsValues(setting, item)
  const items = parts.items.filter((item) => !isCount(item))
  return items.length === parts.items.length ? setting : { ...setting, parts: { ...parts, items } }
}

/** `The two in Hull are Ann and Bo`. */
function isListed({ words, from }: Parts, { at }: Item, first: number): boolean {
  return words
    .slice(Math.max(0, at - from), Math.max(0, first - from))
    .some((word) => /^(?:are|were|sind|waren|sont|son)$/.test(word))
}

function wordBefore({ words, from }: Parts, { at }: Item): string | undefined {
  return words[at - 1 - from]
}

/** What it counts is the name of a column: `two berths`. */
function countsValues({ parts, view, key }: Setting, item: Item): boolean {
  const next = parts.items.find(({ at, part }) => at > item.at && part === item.part)
  return (
    next !== undefined &&
    view.names.some((name, column) => column !== key && name !== undefined && cellHas(name, next)) &&
    next.at === item.at + 1
  )
}
