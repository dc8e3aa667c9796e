/** Whether a place has the contrary of a word that it does not have: `March` for `May`. */

import { contrastOf, isStopWord } from './lexicon.ts'

/** @returns the contrary, unless the statement has that too. */
export function contraryOf(word: string, statement: readonly string[], place: readonly string[]): string | undefined {
  const contrast = contrastOf(word)
  if (contrast === undefined) return undefined
  return place.find((other) => {
    const its = contrastOf(other)
    return (
      its !== undefined && its[0] === contrast[0] && its[1] !== contrast[1] && !isStopWord(other) && !statement.includes(other)
    )
  })
}
