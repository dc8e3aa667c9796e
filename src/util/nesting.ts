/** Tells whether lists and objects are nested deeper than `most` levels. However deep they are, no call stack is used up. */
export function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : []))
    if (level.length === 0) return false
  }
  return true
}
