/** Whether a copied sentence was changed so that it says something else: a word exchanged or put in, a denial left out. */

import { changedEnds, isHarmless } from './alignment.ts'
import type { Alignment } from './alignment.ts'
import { foldedWords } from './comparison.ts'
import type { Comparison, PassageText, Place } from './comparison.ts'
import { contrastOf, denialAt, isParticle, isStopWord } from './lexicon.ts'
import { describeDifference } from './quotation.ts'
import { isNumber, isSingle } from './tokens.ts'
import { areFormsOfOneWord } from './word-forms.ts'

/** Of a denial that was left out, with the words around it; where more is gone, a clause was, and what it denied with it. */
const LONGEST_DENIAL = 4

/** @returns what was changed, in words, or `undefined`. */
export function changedWord(comparison: Comparison, passage: PassageText, said: Place, near: Alignment): string | undefined {
  const { answer } = comparison
  const sentence = sentencesAround(passage, near.source)
  const changed = [...near.differences, ...changedEnds(answer, passage, said, near)].find((difference) => {
    if (isHarmless(answer, passage, difference) || isBetweenCells(passage, difference.source)) return false
    const given = foldedWords(answer, difference.said.from, difference.said.to)
    const source = foldedWords(passage, difference.source.from, difference.source.to)
    const leavesOutDenial = hasDenial(source) && !hasDenial(given) && source.length <= LONGEST_DENIAL
    return leavesOutDenial || given.some((_, at) => saysOtherwise(given, at, source, sentence))
  })
  return changed === undefined ? undefined : describeDifference(comparison, passage, changed)
}

/** Between the cells of a table a sentence has words that the table does not need; whole cells are left out. */
function isBetweenCells({ placeAt, places, tables, starts }: PassageText, { from, to }: Place): boolean {
  const number = places()[placeAt(from)]?.row ?? places()[placeAt(Math.max(0, from - 1))]?.row
  if (number === undefined) return false
  const table = tables()[number.table]
  const row = number.row === undefined ? table?.header : table?.rows[number.row]
  const cellOf = (word: number): number =>
    row?.cells.findIndex(({ start, end }) => start <= (starts[word] ?? -1) && (starts[word] ?? -1) < end) ?? -1
  return cellOf(from - 1) !== cellOf(to) || cellOf(to) === -1
}

function sentencesAround(passage: PassageText, { from, to }: Place): string[] {
  const places = passage.places()
  return foldedWords(passage, places[passage.placeAt(from)]?.from ?? from, places[passage.placeAt(to - 1)]?.to ?? to)
}

/** Whether a word says something else than `source`, whose place it took. One that stands elsewhere in the sentence may only have moved. */
function saysOtherwise(given: readonly string[], at: number, source: readonly string[], sentence: readonly string[]): boolean {
  const word = given[at] ?? ''
  if (denialAt(given, at) === 'strong') return !hasDenial(source)
  // A number may have moved too, but not into the place of another one.
  const known = isNumber(word) && source.some(isNumber) ? source : sentence
  if (known.some((other) => areFormsOfOneWord(word, other))) return false
  if (isNumber(word)) return true
  const contrast = contrastOf(word)
  if (contrast !== undefined && source.some((other) => contrastOf(other)?.[0] === contrast[0])) return true
  return isSingle(word) ? !isParticle(word) : !isStopWord(word) && word.length > 2
}

function hasDenial(words: readonly string[]): boolean {
  return words.some((_, at) => denialAt(words, at) === 'strong')
}
