/** Which cells of a column, or names of columns, a statement says. */

import type { Cell } from './records.ts'
import type { Item, Parts } from './segments.ts'
import { agree, isLetter } from './terms.ts'

/**
 * For each cell the words of the statement that say it, if they do: as they stand, but not within a longer one (`P1` in `P1 Max`); or else all
 * of its words that mean something, wherever they are, or those of one element of a list. A remark in brackets need not be said.
 */
export function mentionsOf(
  cells: readonly (Cell | undefined)[],
  items: readonly Item[],
  parts: Parts,
): (readonly Item[] | undefined)[] {
  // Of a letter alone only some are names.
  const spans = cells.map((cell) => (cell === undefined || isLetter(cell) ? [] : spansOf(cell.words, parts.words)))
  const heads = cells.map((cell, at) => (cell === undefined || spans[at]?.length !== 0 ? [] : spansOf(cell.head, parts.words)))
  const all = [...spans, ...heads].flat()
  const isWithin = (item: Item): boolean => all.some(([from, to]) => from <= item.at - parts.from && item.at - parts.from < to)
  return cells.map((cell, at) => {
    const head = heads[at] ?? []
    const own = head.length > 0 ? head : (spans[at] ?? [])
    if (cell === undefined) return undefined
    if (own.length === 0) {
      const said = saidOf(cell, items)
      return said?.some(isWithin) === true ? undefined : said
    }
    const free = own.filter(([from, to]) => !all.some(([first, last]) => first <= from && to <= last && last - first > to - from))
    const said = items.filter((item) => free.some(([from, to]) => from <= item.at - parts.from && item.at - parts.from < to))
    if (said.length === 0) return undefined
    return head.length === 0 ? said : [...new Set([...said, ...(allOf(cell.terms, items) ?? [])])]
  })
}

/** Where the words of a cell stand in a statement as they are: numbers of words. */
export function spansOf(cell: readonly string[], words: readonly string[]): (readonly [from: number, to: number])[] {
  if (cell.length === 0) return []
  return words.flatMap((_, at) =>
    cell.every((word, index) => words[at + index] === word) ? [[at, at + cell.length] as const] : [],
  )
}

/** The words of a statement that say a cell, or an element of its list. */
export function saidOf({ terms, elements }: Cell, items: readonly Item[]): Item[] | undefined {
  const whole = allOf(terms, items)
  if (whole !== undefined || elements.length === 0) return whole
  const parts = elements.flatMap((element) => allOf(element, items) ?? [])
  return parts.length === 0 ? undefined : parts
}

function allOf(terms: Cell['terms'], items: readonly Item[]): Item[] | undefined {
  const found: Item[] = []
  for (const term of terms) {
    const item = items.find((one) => agree(one, term))
    if (item === undefined) return undefined
    found.push(item)
  }
  return found.length === 0 ? undefined : found
}
