/** Ctrl-R: looking back through what was typed before, as in a shell. Pure. */

export interface BackwardSearch {
  readonly query: string
  /** The entry that is shown; as many as there are entries while none is. */
  readonly index: number
  /** Nothing (more) was found. */
  readonly isLost: boolean
  /** What was being written when it began. */
  readonly draft: string
}

export function beginSearch(entries: readonly string[], draft: string): BackwardSearch {
  return { query: '', index: entries.length, isLost: false, draft }
}

/** What is found with more in the query: the entry that is shown already, if it fits. */
export function withQuery(search: BackwardSearch, entries: readonly string[], query: string): BackwardSearch {
  const isLonger = query.startsWith(search.query)
  return lookFrom({ ...search, query }, entries, isLonger ? search.index : entries.length - 1)
}

/** The next older entry that fits and says something else. */
export function older(search: BackwardSearch, entries: readonly string[]): BackwardSearch {
  const shown = entries[search.index]
  let from = search.index - 1
  while (from >= 0 && entries[from] === shown) from--
  return lookFrom(search, entries, from)
}

function lookFrom(search: BackwardSearch, entries: readonly string[], from: number): BackwardSearch {
  if (search.query === '') return { ...search, isLost: false }
  const wanted = search.query.toLowerCase()
  for (let index = Math.min(from, entries.length - 1); index >= 0; index--) {
    if (entries[index]?.toLowerCase().includes(wanted) === true) return { ...search, index, isLost: false }
  }
  return { ...search, isLost: true }
}

/** What stands in the line meanwhile. */
export function textOf({ index, draft }: BackwardSearch, entries: readonly string[]): string {
  return entries[index] ?? draft
}
