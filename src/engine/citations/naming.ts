/** Which columns a statement names. */

import { mentionsOf } from './mentions.ts'
import { cellHas } from './records.ts'
import type { View } from './records.ts'
import { areContrary } from './segments.ts'
import type { Item, Parts } from './segments.ts'

export interface Naming {
  readonly item: Item
  readonly column: number
  /** It is named by the contrary of its name. */
  readonly isContrary: boolean
}

/** Which words name a column: all the words of a name, or those that no other column has in its name. */
export function namingOf(items: readonly Item[], names: View['names'], parts: Parts): Naming[] {
  const mentions = mentionsOf(names, items, parts)
  const found: Naming[] = []
  for (const item of items) {
    const columns = names.flatMap((name, column) => (name !== undefined && cellHas(name, item) ? [column] : []))
    const whole = columns.filter((column) => mentions[column]?.includes(item) === true)
    const chosen = columns.length === 1 ? columns : whole
    for (const column of chosen.length <= 1 ? chosen : []) found.push({ item, column, isContrary: false })
    for (const [column, name] of columns.length === 0 ? names.entries() : [])
      if (name?.words.some((word) => areContrary(word, item.word)) === true) found.push({ item, column, isContrary: true })
  }
  return found
}
