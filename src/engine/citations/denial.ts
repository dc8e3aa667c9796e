/** Whether a statement and a place of a passage deny the same: a `not` counts where the other side speaks of what it denies. */

import { denialAt, isStopWord } from './lexicon.ts'
import type { Reading } from './reading.ts'
import { isSingle } from './tokens.ts'
import { areFormsOfOneWord, bagHasFormOf } from './word-forms.ts'

/**
 * Words around a denial among which stands what it denies.
 *
 * With one word, four more of the made citations are judged wrongly; from two to eight the scores are the same.
 */
const REACH = 4
/** Words that part clauses without a mark. */
const JOINT = /^(?:and|but|or|und|aber|oder|sondern|et|mais|ou|y|pero|e|ma|en|maar)$/

/** @returns what is wrong, or `undefined`. */
export function denialProblem(statement: Reading, place: Reading): string | undefined {
  const denied = place.words.findIndex(
    (_, at) => denialAt(place.words, at) === 'strong' && deniesWhatIsSaid(place, at, statement),
  )
  const denial = statement.words.findIndex((_, at) => denialAt(statement.words, at) === 'strong')
  if (denial >= 0) {
    const isDeniedToo =
      deniesBeside(place, targetOf(statement, denial)) &&
      (denied >= 0 || place.words.some((_, at) => denialAt(place.words, at) === 'weak'))
    return isDeniedToo ? undefined : `denies with “${statement.words[denial] ?? ''}” what the passage does not deny`
  }
  if (denied < 0) return undefined
  const isHinted = statement.words.some((_, at) => denialAt(statement.words, at) === 'weak')
  return isHinted ? undefined : `leaves out “${place.words[denied] ?? ''}”`
}

/** The word that a denial stands before. */
function targetOf({ words }: Reading, at: number): string | undefined {
  return words.slice(at + 1, at + 1 + REACH).find((word) => !isStopWord(word) && !isSingle(word) && word.length > 2)
}

/** Whether a place denies something in a clause that has a word; so it does when it does not have the word at all. */
function deniesBeside({ words, clauses }: Reading, target: string | undefined): boolean {
  if (target === undefined) return true
  let isThere = false
  let start = 0
  for (let at = 1; at <= words.length; at++) {
    if (at < words.length && clauses[at] !== true && !JOINT.test(words[at] ?? '')) continue
    const clause = words.slice(start, at)
    if (clause.some((word) => areFormsOfOneWord(word, target))) {
      isThere = true
      if (clause.some((_, index) => denialAt(clause, index) !== undefined)) return true
    }
    start = at
  }
  return !isThere
}

/** Whether the denial at a word denies something that the statement speaks of. */
function deniesWhatIsSaid({ words, clauses }: Reading, at: number, statement: Reading): boolean {
  const isSaid = (word: string): boolean => bagHasFormOf(statement.bag, word) || statement.pairs.has(word)
  const means = (index: number): boolean => {
    const word = words[index] ?? ''
    return !isStopWord(word) && denialAt(words, index) === undefined && word.length > 1
  }
  if (isSingle(words[at] ?? '')) {
    return (
      statement.pairs.has((words[at + 1] ?? '') + (words[at + 2] ?? '')) ||
      statement.pairs.has((words[at + 2] ?? '') + (words[at + 3] ?? ''))
    )
  }
  for (let index = at + 1; index < words.length && index <= at + REACH && clauses[index] !== true; index++) {
    if (means(index)) return isSaid(words[index] ?? '')
  }
  // It stands behind what it denies: `startet nicht`.
  let known = 0
  let all = 0
  for (let index = at - 1; index >= 0 && index >= at - REACH && clauses[index + 1] !== true; index--) {
    if (!means(index)) continue
    all++
    if (isSaid(words[index] ?? '')) known++
  }
  return known * 2 > all
}
