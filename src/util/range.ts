/** Ranges of UTF-16 units in one text. */

export interface Range {
  readonly start: number
  readonly end: number
}

/** Returns the range that holds offset `at` after its first unit. @param ranges ascending, without overlap. */
export function rangeAround<T extends Range>(ranges: readonly T[], at: number): T | undefined {
  const found = ranges[firstIndex(ranges, ({ end }) => end > at)]
  return found !== undefined && found.start < at ? found : undefined
}

/** Returns the index of the first item that passes, by binary search; the length when none passes. All later items must pass, too. */
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

/** Returns the items that begin within a range. @param items in ascending order. */
export function beginningIn<T extends Range>(items: readonly T[], { start, end }: Range): readonly T[] {
  return items.slice(
    firstIndex(items, (item) => item.start >= start),
    firstIndex(items, (item) => item.start >= end),
  )
}
