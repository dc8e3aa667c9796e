/** Ranges of UTF-16 units in one text. */

export interface Range {
  readonly start: number
  readonly end: number
}

/** The range that holds a place after its first unit. @param ranges ascending, without overlap. */
export function rangeAround<T extends Range>(ranges: readonly T[], at: number): T | undefined {
  const found = ranges[firstIndex(ranges, ({ end }) => end > at)]
  return found !== undefined && found.start < at ? found : undefined
}

/** Index of the first item that passes a test which all later ones pass as well; the length where none does. */
export function firstIndex<T>(items: readonly T[], passes: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item !== undefined && passes(item)) high = middle
    else low = middle + 1
  }
  return low
}

/** The items that begin within a range. @param items in ascending order. */
export function beginningIn<T extends Range>(items: readonly T[], { start, end }: Range): readonly T[] {
  return items.slice(
    firstIndex(items, (item) => item.start >= start),
    firstIndex(items, (item) => item.start >= end),
  )
}
