/** Ranges of UTF-16 units in one text. */

export interface Range {
  readonly start: number
  readonly end: number
}

/** The range that a place lies in, its first unit left out. @param ranges ascending, none within another. */
export function rangeAround<T extends Range>(ranges: readonly T[], at: number): T | undefined {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.end ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const found = ranges[low]
  return found !== undefined && found.start < at ? found : undefined
}
