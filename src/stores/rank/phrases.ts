/** Evidence that words which stand together in the query stand together in the chunk. */

/** Pairs of different words that follow each other in a query, each pair once. */
export function pairsOf(terms: readonly number[]): [number, number][] {
  const pairs = new Map<string, [number, number]>()
  terms.forEach((second, at) => {
    const first = terms[at - 1]
    if (first !== undefined && first !== second) pairs.set(`${first} ${second}`, [first, second])
  })
  return [...pairs.values()]
}

/** How often each pair stands in a sequence of terms, in the order of the pairs. */
export function countPairs(sequence: readonly number[], pairs: readonly (readonly [number, number])[]): number[] {
  const counts = pairs.map(() => 0)
  const byFirst = new Map<number, number[]>()
  pairs.forEach(([first], at) => {
    const known = byFirst.get(first)
    if (known === undefined) byFirst.set(first, [at])
    else known.push(at)
  })
  sequence.forEach((term, at) => {
    for (const pair of byFirst.get(term) ?? []) if (pairs[pair]?.[1] === sequence[at + 1]) counts[pair] = (counts[pair] ?? 0) + 1
  })
  return counts
}
