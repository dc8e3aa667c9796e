/** Names of people, places and things: runs of capitalised words that the question does not say itself. */

import type { Candidate, SearchedText } from './candidate.ts'
import { DEMONYMS, FUNCTION_WORDS, MONTHS, PLACE_PREPOSITIONS, TIME_WORDS } from './lexicon.ts'
import type { Word } from './words.ts'

/** Small words inside names: `Bill of Rights`, `Ludwig van Beethoven`, `Peter, Paul and Mary`. */
const LINKS: ReadonlySet<string> = new Set('of the de la le du da di del der den van von al el bin ibn y and'.split(' '))
const NO_BREAK = /^[\s.'’"&/-]*$/u
const POSSESSIVE = /['’]s?$/u
/** Single words in front of which something else is meant (`Swedish singer`), or that open a sentence and may be no name. */
const UNLIKELY = 0.3
const AT_SENTENCE_START = 0.7

export function findNames(searched: SearchedText): Candidate[] {
  return runs(searched).map((run) => ({
    ...run,
    strength: run.strength * (run.adjective && !asksForAdjective(searched) ? UNLIKELY : 1),
  }))
}

/** Most people have two names; one alone is more often something else. */
export function findPeople(searched: SearchedText): Candidate[] {
  return runs(searched)
    .filter((run) => !run.adjective)
    .map((run) => ({ ...run, strength: run.strength * (run.to - run.from > 1 ? 1 : AT_SENTENCE_START) }))
}

/** Names after words like `in` and `near`, other names, and nameless places (`in the harbour`). */
export function findPlaces(searched: SearchedText): Candidate[] {
  const { words } = searched
  const found: Candidate[] = []
  for (const run of runs(searched)) {
    if (run.adjective) continue
    const led = [words[run.from - 1], words[run.from - 2]].some(
      (word) => word !== undefined && PLACE_PREPOSITIONS.has(word.lower),
    )
    found.push({ ...run, strength: run.strength * (led ? 1 : 0.5) })
  }
  return [...found, ...namelessPlaces(searched)]
}

interface Run extends Candidate {
  /** `Swedish`, `American`: says where from, not who or where. */
  readonly adjective: boolean
}

function asksForAdjective({ question }: SearchedText): boolean {
  return question.focus.some((stem) => ['nation', 'languag', 'ethnic', 'religion', 'peopl'].includes(stem))
}

function runs(searched: SearchedText): Run[] {
  const { text, words } = searched
  const small = new Set(words.filter((word) => !word.capital).map((word) => word.lower))
  const found: Run[] = []
  for (let from = 0; from < words.length; from++) {
    const first = words[from]
    if (first === undefined || !opensName(first, text)) continue
    const to = endOfName(searched, from)
    const alone = to - from === 1
    const adjective = alone && DEMONYMS.has(first.lower)
    let strength = newness(searched, from, to)
    if (alone && opensSentence(text, first)) strength *= small.has(first.lower) ? 0 : AT_SENTENCE_START
    if (alone && POSSESSIVE.test(text.slice(first.start, first.end))) strength *= UNLIKELY
    if (strength > 0) found.push({ from, to, strength, adjective })
    from = to - 1
  }
  return found
}

function opensName(word: Word, text: string): boolean {
  if (!word.capital || MONTHS.has(word.lower) || TIME_WORDS.has(word.lower)) return false
  return !FUNCTION_WORDS.has(word.lower) || !opensSentence(text, word)
}

function endOfName({ text, words }: SearchedText, from: number): number {
  let to = from + 1
  for (let i = from + 1; i < words.length && i - from < LONGEST_NAME; i++) {
    const word = words[i]
    const before = words[i - 1]
    if (word === undefined || before === undefined || !NO_BREAK.test(text.slice(before.end, word.start))) break
    if (endsSentence(text, before, word) || POSSESSIVE.test(text.slice(before.start, before.end))) break
    if (word.capital && !MONTHS.has(word.lower)) to = i + 1
    else if (!LINKS.has(word.lower)) break
  }
  return to
}

const LONGEST_NAME = 10

/** A full stop after more than an initial. */
function endsSentence(text: string, before: Word, word: Word): boolean {
  return before.lower.length > 3 && text.slice(before.end, word.start).includes('.')
}

function opensSentence(text: string, word: Word): boolean {
  return /(?:^|[.!?:;•|]["'”’)\]]*\s+|\n\s*)["'“‘(]*$/u.test(text.slice(Math.max(0, word.start - 12), word.start))
}

/** Share of its words that the question does not say. */
function newness({ question, words }: SearchedText, from: number, to: number): number {
  const content = words.slice(from, to).filter((word) => !FUNCTION_WORDS.has(word.lower))
  return content.length === 0 ? 0 : content.filter((word) => !question.given.has(word.stem)).length / content.length
}

/** A preposition, an article and up to three small words. */
function namelessPlaces({ question, text, words }: SearchedText): Candidate[] {
  const found: Candidate[] = []
  words.forEach((word, from) => {
    const article = words[from + 1]
    if (!PLACE_PREPOSITIONS.has(word.lower) || article === undefined || !ARTICLES.has(article.lower)) return
    let to = from + 2
    while (
      to < words.length &&
      to - from < 5 &&
      isNoun(words[to]) &&
      !/[,;.:()]/.test(text.slice(words[to - 1]?.end ?? 0, words[to]?.start ?? 0))
    )
      to++
    if (to > from + 2 && !words.slice(from + 2, to).every((noun) => question.given.has(noun.stem)))
      found.push({ from, to, strength: 0.5 })
  })
  return found
}

const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an', 'its', 'their', 'his', 'her'])

function isNoun(word: Word | undefined): boolean {
  return word !== undefined && !word.capital && !word.numeric && !FUNCTION_WORDS.has(word.lower)
}
