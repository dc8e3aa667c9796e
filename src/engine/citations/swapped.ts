/** Whether names or numbers have changed places in an otherwise equal sentence: all words stand there, and say something else. */

import type { ContentWord } from './content-words.ts'

/** @param statement, place folded words, in their order. */
export function haveSwapped(
  statement: readonly string[],
  contentWords: readonly ContentWord[],
  place: readonly string[],
): boolean {
  const movable = movableOf(statement, contentWords)
  if (movable.size === 0) return false
  const said = new Set(statement)
  const same = place.filter((word) => said.has(word))
  if (same.length !== statement.length || same.join(' ') === statement.join(' ')) return false
  const frame = (list: readonly string[]): string => list.map((word) => (movable.has(word) ? '_' : word)).join(' ')
  return frame(same) === frame(statement) && same.toSorted().join(' ') === statement.toSorted().join(' ')
}

/** The capital of a first word tells nothing: where there are other names, it may be one. */
function movableOf(statement: readonly string[], contentWords: readonly ContentWord[]): ReadonlySet<string> {
  const names = contentWords.filter(({ kind }) => kind === 'name' || kind === 'number').map(({ word }) => word)
  const [first] = contentWords
  return new Set(names.length > 0 && first !== undefined && first.word === statement[0] ? [...names, first.word] : names)
}
