/**
 * Whether a passage bears out what an answer says in its own words, by words alone.
 *
 * In one place of the passage must stand: every number, most of the other words that mean something (forms of a word are one word), and a
 * denial where the answer has one and none where it has none. Names must stand somewhere in the passage. A word whose contrary stands there
 * instead (`March` for `May`) is a contradiction. What is meant, who does what to whom, and what follows from what is not seen.
 */

import type { Comparison, PassageText, Place } from './comparison.ts'
import { foldedWords } from './comparison.ts'
import { contentWordsOf } from './content-words.ts'
import type { ContentWord } from './content-words.ts'
import { contraryOf } from './contrary.ts'
import { denialProblem } from './denial.ts'
import { likelyPlaces } from './likely-places.ts'
import { contextOf, numberValues, passageHasFormOf, readPlace, readWords } from './reading.ts'
import type { Reading } from './reading.ts'
import { haveSwapped } from './swapped.ts'
import { weighTables } from './table-statement.ts'
import { monthOf } from './terms.ts'
import { bagHasFormOf } from './word-forms.ts'
import type { Bag } from './word-forms.ts'

export type Support = { readonly supported: true; readonly place: Place } | { readonly supported: false; readonly reason: string }

/** Share of the words that mean something which must stand in one place; `docs/citations.md` tells what other values do. */
const LEAST_SHARE = 0.6
/** The same of a row, which has no verbs and does not say what it is a row of. */
const LEAST_SHARE_OF_ROW = 0.5
/** With fewer words that mean something, agreement is chance. */
const FEWEST_WORDS = 2
/** How many of the missing words the reason names. */
const MOST_NAMED = 5

export function supportOf(comparison: Comparison, passage: PassageText, said: Place): Support {
  const statement = readWords(foldedWords(comparison.answer, said.from, said.to))
  const contentWords = contentWordsOf(comparison.answer, said, statement.words)
  if (contentWords.length < FEWEST_WORDS) return unsupported('too few words to check')
  const context = contextOf(passage)
  const { sentences, rows } = likelyPlaces(comparison, passage, contentWords, said)
  // A table may write a month as a number: its rows tell whether it does.
  const absent = contentWords.find(
    (word) =>
      word.kind === 'name' &&
      !(rows.length > 0 && monthOf(word.word) !== undefined) &&
      !standsAnywhere(comparison, passage, context, word),
  )
  // Of a sentence `there` is the sentence; of a passage with tables it would be read as the whole.
  const isElsewhere = ({ at }: ContentWord): boolean => rows.length > 0 && passageHasExactly(comparison, passage, at)
  const weighed = [
    ...sentences.map((place): Candidate => {
      const found = weigh(statement, contentWords, readPlace(passage, place), context, isElsewhere)
      return { place, isRow: false, share: 1 - found.missing.length / contentWords.length, ...found }
    }),
    ...weighTables(comparison, passage, said, rows, context).map((row): Candidate => ({ ...row, isRow: true })),
  ].sort(bestFirst)
  const [best] = weighed
  if (best === undefined) return unsupported('the passage has none of it')
  if (absent !== undefined) return unsupported(`“${original(comparison, absent)}” is not in the passage`)
  // Of two rows, the one that has more of the words may not be the one that is meant.
  const isSound = ({ problem, share, isRow }: Candidate): boolean =>
    problem === undefined && share >= (isRow ? LEAST_SHARE_OF_ROW : LEAST_SHARE)
  const sound = isSound(best) ? best : (weighed.find((one) => one.isRow && isSound(one)) ?? best)
  const { place, missing, problem } = sound
  if (problem !== undefined) return unsupported(problem)
  if (!isSound(sound)) return unsupported(notThere(comparison, passage, contentWords, missing))
  return { supported: true, place }
}

interface Candidate extends Weighed {
  readonly place: Place
  readonly isRow: boolean
  readonly share: number
}

/** Says of no word that it is not in the passage when it stands elsewhere in it. */
function notThere(
  comparison: Comparison,
  passage: PassageText,
  contentWords: readonly ContentWord[],
  missing: readonly string[],
): string {
  const isAbsent = (word: string): boolean =>
    contentWords.every((other) => other.word !== word.toLowerCase() || !passageHasExactly(comparison, passage, other.at))
  const absent = missing.filter(isAbsent)
  const [what, words] = absent.length > 0 ? ['not in the passage', absent] : ['stands there, but not together', missing]
  return `${what}: ${words.slice(0, MOST_NAMED).join(', ')}`
}

function unsupported(reason: string): Support {
  return { supported: false, reason }
}

/** As it is, in what the passage is titled, or in another form. */
function standsAnywhere(comparison: Comparison, passage: PassageText, context: Bag, { word, at }: ContentWord): boolean {
  return passageHasExactly(comparison, passage, at) || bagHasFormOf(context, word) || passageHasFormOf(passage, word)
}

function passageHasExactly(comparison: Comparison, passage: PassageText, at: number): boolean {
  return comparison.run(passage, at, at + 1) !== undefined
}

function original({ answer }: Comparison, { at }: ContentWord): string {
  return answer.text.slice(answer.starts[at], answer.ends[at])
}

/** What one place says of a statement. */
interface Weighed {
  readonly missing: readonly string[]
  /** Why it does not bear the statement out, however many of the words it has. */
  readonly problem: string | undefined
}

function weigh(
  statement: Reading,
  contentWords: readonly ContentWord[],
  place: Reading,
  context: Bag,
  isElsewhere: (word: ContentWord) => boolean,
): Weighed {
  const missing: string[] = []
  let problem: string | undefined
  for (const contentWord of contentWords) {
    const { word, kind } = contentWord
    if (kind === 'number') {
      if (numberValues(word).some((value) => place.values.has(value))) continue
      missing.push(word)
      const how = isElsewhere(contentWord) ? 'stands there, but not with the rest' : 'does not stand there'
      if (!bagHasFormOf(context, word)) problem ??= `“${word}” ${how}`
    } else if (kind === 'pair') {
      if (!place.pairs.has(word)) missing.push(word)
    } else if (!bagHasFormOf(place.bag, word) && !bagHasFormOf(context, word)) {
      missing.push(word)
      const contrary = contraryOf(word, statement.words, place.words)
      if (contrary !== undefined) problem ??= `says “${word}” where the passage has “${contrary}”`
    }
  }
  problem ??= denialProblem(statement, place)
  if (problem === undefined && haveSwapped(statement.words, contentWords, place.words)) {
    problem = 'names or numbers have changed places'
  }
  return { missing, problem }
}

/** The fewest missing words, then no problem, then the shortest place: a citation should point at no more than it needs. */
function bestFirst(a: Candidate, b: Candidate): number {
  return (
    a.missing.length - b.missing.length ||
    Number(a.problem !== undefined) - Number(b.problem !== undefined) ||
    a.place.to - a.place.from - (b.place.to - b.place.from)
  )
}
