/**
 * Returns the candidate with the smallest edit distance (insert, delete, replace, swap of neighbours) to a mistyped word. The distance
 * is at most a third of the word's length and at most 3; returns `undefined` when no candidate is that close.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase()
  let best: string | undefined
  let smallest = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase(), smallest)
    if (distance < smallest) {
      smallest = distance
      best = candidate
    }
  }
  return best
}

/** Returns the first key of `given` that is likely a misspelling of a known key, and that known key. */
export function misspelt(given: object, known: readonly string[]): { readonly key: string; readonly meant: string } | undefined {
  for (const key of Object.keys(given)) {
    const meant = known.includes(key) ? undefined : nearest(key, known)
    if (meant !== undefined) return { key, meant }
  }
  return undefined
}

/** Returns all names of an options object, for `unknownOption`; the type check ensures that no name is missing. */
export function namesOf<Options extends object>(names: Readonly<Record<keyof Options, unknown>>): readonly string[] {
  return Object.keys(names)
}

/**
 * Returns the first unknown name in `given`, with a message that names the most likely correction, the right place, or all known names.
 * Ignores members that are `undefined`.
 *
 * @param elsewhere names that are valid in another place, and how they are written there.
 */
export function unknownOption(
  given: object,
  known: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): { readonly problem: string; readonly hint?: string } | undefined {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || known.includes(key)) continue
    const place = Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined
    const meant = place ?? nearest(key, known)
    if (meant === undefined) return { problem: `no option \`${key}\`.`, hint: `There are ${known.join(', ')}.` }
    return { problem: `no option \`${key}\`: ${place === undefined ? `did you mean \`${meant}\`?` : `write \`${meant}\`.`}` }
  }
  return undefined
}

/** Optimal string alignment distance (Damerau-Levenshtein with adjacent swaps); `limit` or more is reported as `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a.charAt(i - 1) === b.charAt(j - 1)
      let cost = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a.charAt(i - 1) === b.charAt(j - 2) && a.charAt(i - 2) === b.charAt(j - 1)) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return Math.min(last[b.length] ?? limit, limit)
}
