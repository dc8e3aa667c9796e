/** Places in a text that look like an answer of the kind that the question asks for. English and its lexicon, numbers anywhere. */

import type { AnswerKind } from './answer-kind.ts'
import { FUNCTION_WORDS, MONTHS, NUMBER_WORDS, ORDINAL_WORDS, PLACE_PREPOSITIONS, TIME_WORDS, UNITS } from './lexicon.ts'
import type { Question } from './question.ts'
import type { Word } from './words.ts'

export interface Candidate {
  /** Range of words, end exclusive. */
  readonly from: number
  readonly to: number
  /** 0 to 1: how much it looks like the kind. */
  readonly strength: number
}

/** All candidates of the question's kind, in order. What the question itself says is none. */
export function findCandidates(question: Question, text: string, words: readonly Word[]): Candidate[] {
  return FINDERS[question.kind]({ question, text, words })
}

interface Passage {
  readonly question: Question
  readonly text: string
  readonly words: readonly Word[]
}

const FINDERS: Readonly<Record<AnswerKind, (passage: Passage) => Candidate[]>> = {
  person: (passage) => names(passage).map((name) => ({ ...name, strength: name.strength * (name.to - name.from > 1 ? 1 : 0.7) })),
  name: names,
  place: places,
  time: times,
  count: (passage) => numbers(passage, false),
  quantity: (passage) => numbers(passage, true),
  reason: (passage) => cues(passage, REASON),
  manner: (passage) => cues(passage, MANNER),
  definition: (passage) => cues(passage, DEFINITION),
  thing: () => [],
}

const REASON =
  /\b(?:because|due to|owing to|since|as a result|result(?:s|ed|ing)? (?:in|from)|caus(?:e|es|ed|ing)|therefore|thus|so that|in order to|led to|leads to|reasons?|for (?:being|having|their|his|her|its)|to (?:avoid|prevent|make|help|allow|give|get|protect))\b/gi
const MANNER = /\b(?:by \w+ing|by|through|via|using|with|as)\b/gi
const DEFINITION =
  /\b(?:is|are|was|were|means?|meaning|refers? to|called|known as|defined as|stands? for|consists? of|abbreviat\w+|short for)\b/gi

function cues({ text, words }: Passage, pattern: RegExp): Candidate[] {
  const found: Candidate[] = []
  let index = 0
  for (const match of text.matchAll(pattern)) {
    while (index < words.length && (words[index]?.start ?? 0) < match.index) index++
    if (index < words.length) found.push({ from: index, to: index + 1, strength: 1 })
  }
  return found
}

const NAME_LINKS = new Set('of the de la le du da di del der den van von al el bin ibn y and for'.split(' '))
const NO_BREAK = /^[\s.'’"&/-]*$/u

/** Runs of capitalised words that the question does not name. */
function names({ question, text, words }: Passage): Candidate[] {
  const found: Candidate[] = []
  for (let i = 0; i < words.length; i++) {
    if (!isNamePart(words, text, i)) continue
    let to = i + 1
    for (let j = i + 1; j < words.length; j++) {
      const word = words[j]
      const gap = text.slice(words[j - 1]?.end ?? 0, word?.start ?? 0)
      if (word === undefined || !NO_BREAK.test(gap) || (/\.\s*$/.test(gap) && (words[j - 1]?.lower.length ?? 0) > 3)) break
      if (word.capital) to = j + 1
      else if (!NAME_LINKS.has(word.lower)) break
    }
    const strength = newness(question, words, i, to) * (to - i === 1 && atSentenceStart(text, words[i]) ? 0.5 : 1)
    if (strength > 0) found.push({ from: i, to, strength })
    i = to - 1
  }
  return found
}

function isNamePart(words: readonly Word[], text: string, index: number): boolean {
  const word = words[index]
  if (word === undefined || !word.capital) return false
  if (MONTHS.has(word.lower) || TIME_WORDS.has(word.lower)) return false
  return !FUNCTION_WORDS.has(word.lower) || !atSentenceStart(text, word)
}

function atSentenceStart(text: string, word: Word | undefined): boolean {
  if (word === undefined) return false
  return /(?:^|[.!?:;•|]["'”’)\]]*\s+|\n\s*)["'“‘(]*$/u.test(text.slice(Math.max(0, word.start - 12), word.start))
}

/** Share of the words that the question does not say. */
function newness(question: Question, words: readonly Word[], from: number, to: number): number {
  let fresh = 0
  let all = 0
  for (let i = from; i < to; i++) {
    const word = words[i]
    if (word === undefined || FUNCTION_WORDS.has(word.lower)) continue
    all++
    if (!question.given.has(word.stem)) fresh++
  }
  return all === 0 ? 0 : fresh / all
}

function places(passage: Passage): Candidate[] {
  const { question, text, words } = passage
  const found: Candidate[] = []
  for (const name of names(passage)) {
    const near = [words[name.from - 1], words[name.from - 2]]
    const led = near.some((word) => word !== undefined && PLACE_PREPOSITIONS.has(word.lower))
    found.push({ ...name, strength: name.strength * (led ? 1 : 0.5) })
  }
  // "in the fascia": a place that has no name.
  words.forEach((word, i) => {
    const next = words[i + 1]
    if (!PLACE_PREPOSITIONS.has(word.lower) || next === undefined || !FUNCTION_WORDS.has(next.lower)) return
    const noun = words[i + 2]
    if (noun === undefined || noun.capital || noun.numeric || FUNCTION_WORDS.has(noun.lower) || question.given.has(noun.stem))
      return
    if (text.slice(word.end, noun.start).includes(',')) return
    found.push({ from: i, to: i + 3, strength: 0.5 })
  })
  return found.sort((a, b) => a.from - b.from)
}

const YEAR = /^(?:1\d{3}|20\d{2})s?$/

function times({ question, words }: Passage): Candidate[] {
  const found: Candidate[] = []
  for (let i = 0; i < words.length; i++) {
    if (!isTime(words, i) || question.given.has(words[i]?.stem ?? '')) continue
    let to = i + 1
    while (to < words.length && to - i < 5 && (isTime(words, to) || words[to]?.numeric === true)) to++
    found.push({ from: i, to, strength: 1 })
    i = to - 1
  }
  return found
}

function isTime(words: readonly Word[], index: number): boolean {
  const word = words[index]
  if (word === undefined) return false
  if (YEAR.test(word.lower) || TIME_WORDS.has(word.lower)) return true
  if (MONTHS.has(word.lower))
    return word.lower !== 'may' && word.lower !== 'march'
      ? true
      : word.capital && (words[index + 1]?.numeric === true || words[index - 1]?.numeric === true)
  const next = words[index + 1]
  return word.numeric && next !== undefined && (MONTHS.has(next.lower) || TIME_WORDS.has(next.lower))
}

function numbers({ question, text, words }: Passage, measured: boolean): Candidate[] {
  const found: Candidate[] = []
  const focus = new Set(question.focus)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (word === undefined || !isNumber(word) || question.given.has(word.stem)) continue
    let to = i + 1
    while (to < words.length && to - i < 4 && isNumber(words[to])) to++
    found.push({ from: i, to, strength: measured ? measureStrength(text, words, i, to) : countStrength(words, focus, i, to) })
    i = to - 1
  }
  return found
}

function isNumber(word: Word | undefined): boolean {
  return word !== undefined && (word.numeric || NUMBER_WORDS.has(word.lower) || ORDINAL_WORDS.has(word.lower))
}

function countStrength(words: readonly Word[], focus: ReadonlySet<string>, from: number, to: number): number {
  const first = words[from]
  for (let i = to; i < Math.min(words.length, to + 4); i++) if (focus.has(words[i]?.stem ?? '')) return 1
  if (first !== undefined && (YEAR.test(first.lower) || ORDINAL_WORDS.has(first.lower))) return 0.1
  return 0.5
}

function measureStrength(text: string, words: readonly Word[], from: number, to: number): number {
  const first = words[from]
  const last = words[to - 1]
  if (first === undefined || last === undefined) return 0
  const around = text.slice(Math.max(0, first.start - 2), first.start) + text.slice(last.end, last.end + 2)
  if (/[$€£¥%°₹]/.test(around)) return 1
  if (UNITS.has(words[to]?.lower ?? '') || UNITS.has(words[to + 1]?.lower ?? '')) return 1
  return YEAR.test(first.lower) || ORDINAL_WORDS.has(first.lower) ? 0.1 : 0.5
}
