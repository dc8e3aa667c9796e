/** Times, counts and measures in a text. */

import type { Candidate, SearchedText } from './candidate.ts'
import { MONTHS, NUMBER_WORDS, ORDINAL_WORDS, SEASONS, TIME_WORDS, UNITS } from './lexicon.ts'
import type { Word } from './words.ts'

const YEAR = /^(?:1\d{3}|20\d{2})s?$/
/** Between the parts of one figure there is no sentence and no word. */
const WITHIN = /^[\s,–—-]*$/u

const BARE_YEAR = 0.8
const SEASON_ALONE = 0.3
/** "within 30 days", "since version 4": when something is, where no date is named. */
const RELATIVE_TIME = 0.5
const OTHER_NUMBER = 0.5
/** A year or an ordinal where a count or a measure is asked for. */
const WRONG_NUMBER = 0.1

/** Dates, years, centuries, times of day, spans of time, versions; a full date is better than a year alone. */
export function findTimes({ question, text, words }: SearchedText): Candidate[] {
  const found: Candidate[] = []
  for (let from = 0; from < words.length; from++) {
    if (!isTime(words, from)) continue
    let to = from + 1
    while (to < words.length && to - from < 5 && (isTime(words, to) || words[to]?.numeric === true) && adjoin(text, words, to))
      to++
    if (words.slice(from, to).some((word) => !question.given.has(word.stem)))
      found.push({ from, to, strength: timeStrength(words, from, to) })
    from = to - 1
  }
  return found
}

function timeStrength(words: readonly Word[], from: number, to: number): number {
  if (isRelativeTime(words, from)) return RELATIVE_TIME
  if (to - from > 1) return 1
  return SEASONS.has(words[from]?.lower ?? '') ? SEASON_ALONE : BARE_YEAR
}

function isTime(words: readonly Word[], index: number): boolean {
  const word = words[index]
  if (word === undefined) return false
  if (YEAR.test(word.lower) || CLOCK.test(word.lower) || TIME_WORDS.has(word.lower) || SEASONS.has(word.lower)) return true
  if (isRelativeTime(words, index)) return true
  const beside = words[index + 1]?.numeric === true || words[index - 1]?.numeric === true
  if (MONTHS.has(word.lower)) return word.capital && (beside || !AMBIGUOUS_MONTHS.has(word.lower))
  const next = words[index + 1]
  return word.numeric && next !== undefined && (MONTHS.has(next.lower) || TIME_WORDS.has(next.lower))
}

const CLOCK = /^[012]?\d:[0-5]\d$/
const TIME_UNIT = /^(?:second|minute|hour|day|week|month|year)s?$/
const VERSION = /^\d{1,3}(?:\.\d+)*$/
const ANNOUNCES_VERSION: ReadonlySet<string> = new Set(['since', 'version', 'versions', 'release', 'v'])

function isRelativeTime(words: readonly Word[], index: number): boolean {
  const word = words[index]
  if (!isNumber(word)) return false
  if (TIME_UNIT.test(words[index + 1]?.lower ?? '')) return true
  return VERSION.test(word?.lower ?? '') && ANNOUNCES_VERSION.has(words[index - 1]?.lower ?? '')
}

const AMBIGUOUS_MONTHS: ReadonlySet<string> = new Set(['may', 'march', 'mar', 'sep', 'dec', 'jan', 'august'])

/** Numbers; best before the noun that is counted. */
export function findCounts(searched: SearchedText): Candidate[] {
  const { words } = searched
  const focus = new Set(searched.question.focus)
  const none = words.flatMap((word, from) =>
    (word.lower === 'no' || word.lower === 'without') && focus.has(words[from + 1]?.stem ?? '')
      ? [{ from, to: from + 1, strength: 1 }]
      : [],
  )
  const some = numbers(searched).map(({ from, to }) => {
    const reach = isWrongNumber(searched.words[from]) ? 1 : 4
    const counted = searched.words.slice(to, to + reach).some((word) => focus.has(word.stem))
    return { from, to, strength: counted ? 1 : isWrongNumber(searched.words[from]) ? WRONG_NUMBER : OTHER_NUMBER }
  })
  return [...some, ...none]
}

/** Numbers; best with a unit, which is part of the answer. */
export function findMeasures(searched: SearchedText): Candidate[] {
  const { question, text, words } = searched
  const often = question.words.some(({ lower }) => ASKS_HOW_OFTEN.has(lower))
  const frequencies = words.flatMap(({ lower }, from) =>
    often && FREQUENCIES.has(lower) ? [{ from, to: from + 1, strength: 1 }] : [],
  )
  const measures = numbers(searched).map(({ from, to }) => {
    const end = UNITS.has(words[to]?.lower ?? '') ? to + 1 : to
    const around =
      text.slice(Math.max(0, (words[from]?.start ?? 0) - 2), words[from]?.start) +
      text.slice(words[to - 1]?.end, (words[to - 1]?.end ?? 0) + 2)
    const measured = end > to || /[$€£¥%°₹]/u.test(around) || UNITS.has(words[to + 1]?.lower ?? '')
    return { from, to: end, strength: measured ? 1 : isWrongNumber(words[from]) ? WRONG_NUMBER : OTHER_NUMBER }
  })
  return [...measures, ...frequencies]
}

const ASKS_HOW_OFTEN: ReadonlySet<string> = new Set(['often', 'frequently'])
const FREQUENCIES: ReadonlySet<string> = new Set(
  'hourly daily nightly weekly fortnightly monthly quarterly yearly annually always never once twice seldom rarely regularly continuously'.split(
    ' ',
  ),
)

function numbers({ question, text, words }: SearchedText): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  for (let from = 0; from < words.length; from++) {
    if (!isNumber(words[from])) continue
    let to = from + 1
    while (to < words.length && to - from < 4 && isNumber(words[to]) && adjoin(text, words, to)) to++
    if (words.slice(from, to).some((word) => !question.given.has(word.stem))) found.push({ from, to })
    from = to - 1
  }
  return found
}

function isNumber(word: Word | undefined): boolean {
  return word !== undefined && (word.numeric || NUMBER_WORDS.has(word.lower) || ORDINAL_WORDS.has(word.lower))
}

function isWrongNumber(word: Word | undefined): boolean {
  return word !== undefined && (YEAR.test(word.lower) || ORDINAL_WORDS.has(word.lower))
}

/** The word at `index` belongs to the figure that the word before it is part of. */
function adjoin(text: string, words: readonly Word[], index: number): boolean {
  return WITHIN.test(text.slice(words[index - 1]?.end ?? 0, words[index]?.start ?? 0))
}
