/** Whether the best window answers the question at all. */

import type { AnswerKind } from './answer-kind.ts'
import { LIGHT_VERBS, VALUE_NOUNS } from './lexicon.ts'
import { rivals } from './other-names.ts'
import { PART, VARIANT } from './matching.ts'
import type { Question, Term } from './question.ts'
import type { Ranked } from './rank.ts'
import { wordRange } from './reading.ts'
import type { Reading } from './reading.ts'
import { covered, either, strengths } from './share.ts'
import { CONFIDENCE } from './weights.ts'

export const SIGNS = [
  /** Share of the question's weight in the passage and its title, synonyms not counted. */
  'covered',
  /** How far the best passage of the search stands above the fifth. */
  'lead',
  /** How far the best window stands above the best one of any other passage. */
  'margin',
  /** Share of the passage's title that the question says. */
  'topic',
  /** Weight of the heaviest word that stands in no passage: a name nobody mentions is a question nobody answers. */
  'missing',
] as const
export type Sign = (typeof SIGNS)[number]
/** Each between 0 and 1. */
export type Signs = Readonly<Record<Sign, number>>

/** Below this coverage nothing else counts in full: a clear lead in nothing is nothing. */
const ENOUGH_COVERED = 0.3

export function readSigns(question: Question, readings: readonly Reading[], ranked: readonly Ranked[]): Signs {
  const [best] = ranked
  if (best === undefined) return { covered: 0, lead: 0, margin: 0, topic: 0, missing: 1 }
  const rival = ranked.find((other) => other.reading !== best.reading)
  const margin = rival === undefined ? 1 : Math.min(1, Math.max(0, best.worth - rival.worth) / WIDE_MARGIN)
  const coverage = covered(question, saidBy(question, [best.reading], VARIANT))
  const share = Math.min(1, coverage / ENOUGH_COVERED)
  return {
    covered: coverage,
    lead: share * leadOf(readings.map(({ passage }) => passage.score)),
    margin: share * margin,
    topic: share * best.features.topic,
    missing: heaviestUnsaid(question, saidBy(question, readings, 0)),
  }
}

/** A margin that leaves no doubt. */
const WIDE_MARGIN = 4

/** For each term how well any of the passages or their titles says it, matches weaker than `least` left out. */
function saidBy({ terms }: Question, readings: readonly Reading[], least: number): number[] {
  const found = terms.map(() => 0)
  const note = (term: number, strength: number): void => {
    if (strength >= least) found[term] = Math.max(found[term] ?? 0, strength)
  }
  for (const { matches, titleMatches } of readings) {
    for (const match of matches) if (match !== undefined) note(match.term, match.strength)
    titleMatches.forEach((strength, term) => note(term, strength))
  }
  return found
}

function heaviestUnsaid({ terms }: Question, found: readonly number[]): number {
  return Math.max(0, ...terms.map((term, index) => ((found[index] ?? 0) > PART ? 0 : term.weight)))
}

const RUNNER_UP = 5
/** What stands for a lead that cannot be known: neither for nor against. */
const UNKNOWN_LEAD = 0.5

/** Share by which the fifth score (the last, where there are fewer) falls behind the best. */
function leadOf(scores: readonly number[]): number {
  const sorted = scores.filter((score) => Number.isFinite(score) && score > 0).toSorted((a, b) => b - a)
  const [best] = sorted
  const runnerUp = sorted.slice(0, RUNNER_UP).at(-1)
  return best === undefined || runnerUp === undefined || sorted.length < 2 ? UNKNOWN_LEAD : 1 - runnerUp / best
}

/** 0 to 1; what is below `SURE_ENOUGH` is not answered. */
export function confidenceOf(signs: Signs): number {
  const sum = SIGNS.reduce((total, sign) => total + CONFIDENCE[sign] * signs[sign], CONFIDENCE.bias)
  return 1 / (1 + Math.exp(-sum))
}

const SURE_ENOUGH = 0.5
/** What must be reached where the best window lacks the word that the question is about. */
const SURE_WITHOUT_RAREST = 0.55
/** The same where it lacks a word that is about half of the question. */
const SURE_WITHOUT_HALF = 0.9
const HALF = 0.4
/** The same where it says nothing but a name that the title or a heading says, */
const SURE_OF_TITLE_ALONE = 0.995
/** and lacks this share of what is asked. */
const MOST = 0.5
/** The same where it has only relatives of the words that are asked for: "director" is none of "directory". */
const SURE_WITHOUT_WORD = 0.9
/** The same where no passage mentions a name or number of the question. */
const SURE_WITHOUT_NAME = 0.9
/** The same where a number is asked for and the best window has none. */
const SURE_WITHOUT_LOOK = 0.9
const YEAR = /^(?:1\d{3}|20\d{2})$/
/** More than any confidence: nothing is said of what is named in the question. */
const NEVER = 1
/** Kinds of which every answer has a look. */
const ALWAYS_LOOKS: ReadonlySet<AnswerKind> = new Set<AnswerKind>(['count', 'quantity'])

/** An answer often says it otherwise, or not at all. */
function isDispensable({ kind }: Question, lower: string): boolean {
  return LIGHT_VERBS.has(lower) || VALUE_NOUNS.has(lower) || (kind === 'definition' && lower === 'mean')
}

/** Of the names that are said: of each run of words with capital letters only the heaviest counts, since they are one name. */
function weightOfNames({ words, terms }: Question, found: readonly number[]): number {
  let sum = 0
  let run = 0
  for (const { stem } of words) {
    const index = terms.findIndex((term) => term.stem === stem)
    const term = terms[index]
    const isSaid = term !== undefined && (found[index] ?? 0) > PART
    if (!isSaid) {
      sum += run
      run = 0
    } else run = Math.max(run, term.weight)
  }
  return sum + run
}

/** Of "Windows 12" it says Windows 10, and no 12. */
function saysOtherNumber(
  { words: asked, terms }: Question,
  { words }: Reading,
  [from, to]: readonly [number, number],
  found: readonly number[],
): boolean {
  return asked.some((name, index) => {
    const number = asked[index + 1]
    if (number?.numeric !== true || !name.capital || name.numeric || index === 0) return false
    const term = terms.findIndex(({ stem }) => stem === number.stem)
    if ((found[term] ?? 0) === 1) return false
    return words.slice(from, to).some(({ stem }, at, all) => stem === name.stem && all[at + 1]?.numeric === true)
  })
}

const VERSIONS: ReadonlySet<string> = new Set(['version', 'versions', 'release', 'releases'])

/** "Which Node *version*": a number right behind the name is one. */
function withVersion(
  { terms }: Question,
  { words, matches }: Reading,
  [from, to]: readonly [number, number],
  found: readonly number[],
): readonly number[] {
  const hasVersion = words.slice(from, to).some(({ numeric }, index) => {
    const before = matches[from + index - 1]
    return numeric && index > 0 && before?.strength === 1 && !VERSIONS.has(terms[before.term]?.lower ?? '')
  })
  return hasVersion ? terms.map(({ lower }, term) => (VERSIONS.has(lower) ? 1 : (found[term] ?? 0))) : found
}

/** Kinds that prose is full of looks of, whatever it is about. */
const LOOKS_EVERYWHERE: ReadonlySet<AnswerKind> = new Set<AnswerKind>(['person', 'count', 'quantity'])

/** What is said of a name answers much that is asked about it in other words, but not yes or no, and not who or how many unless a cell does. */
function mayAnswer({ kind, isYesNo }: Question, features: Ranked['features'], isRow: boolean): boolean {
  if (isYesNo) return false
  if (LOOKS_EVERYWHERE.has(kind)) return isRow && features.candidate > 0
  return features.candidate > 0 || (kind !== 'place' && kind !== 'time')
}

/** The confidence from which the best window is an answer. */
export function needed(question: Question, readings: readonly Reading[], { reading, window, features }: Ranked): number {
  const { terms } = question
  const anywhere = saidBy(question, readings, 0)
  if (terms.some(({ coded }, index) => coded && (anywhere[index] ?? 0) < 1)) {
    const isAnother = readings.some(({ words }) => rivals(question, words).includes(1))
    return isAnother || question.isYesNo ? NEVER : SURE_WITHOUT_NAME
  }
  if (question.isEnglish && features.candidate === 0 && ALWAYS_LOOKS.has(question.kind)) return SURE_WITHOUT_LOOK
  const missing = terms.filter(({ specific }, index) => specific && anywhere[index] === 0)
  // "Before 1900?" is answered with another year.
  if (missing.length > 0) return question.isYesNo && !missing.every(({ lower }) => YEAR.test(lower)) ? NEVER : SURE_WITHOUT_NAME
  const context = reading.contexts[window.first]
  const range = wordRange(reading.words, window.start, window.end)
  const inside = strengths(question, reading, ...range)
  const found = withVersion(question, reading, range, either(inside, either(context?.close ?? [], context?.wide ?? [])))
  if (saysOtherNumber(question, reading, range, found)) return NEVER
  const unsaid = heaviestUnsaid(question, found)
  if (found.every((strength) => strength < 1)) return SURE_WITHOUT_WORD
  const lacks = (term: number): boolean => (found[term] ?? 0) <= PART && !isDispensable(question, terms[term]?.lower ?? '')
  const lacksHalf = terms.some(({ weight }, term) => weight >= HALF && lacks(term))
  const isRow = reading.units[window.first]?.kind === 'row'
  // What another part of the passage says is said of another name; a row with the name says what there is to be said of it.
  if (lacksHalf && terms.some(({ coded }, term) => coded && !(isRow && found[term] === 1))) return NEVER
  const isName = ({ specific, parts }: Term): boolean => specific || parts.length > 0
  // A question written like a title has capitals and no names.
  const saysNameAlone = !terms.every(isName) && terms.every((term, index) => isName(term) || (found[index] ?? 0) <= PART)
  const lacked = terms.reduce((sum, { weight }, term) => sum + (lacks(term) ? weight : 0), 0)
  const named = weightOfNames(question, found)
  if (terms.length > 1 && saysNameAlone && !mayAnswer(question, features, isRow) && lacked >= MOST * (lacked + named)) {
    // Every sentence of a document about it says as much.
    const above = either(context?.close ?? [], context?.wide ?? [])
    const isTitle = terms.every((_, term) => (found[term] ?? 0) <= PART || (above[term] ?? 0) > PART)
    return isTitle ? SURE_OF_TITLE_ALONE : SURE_WITHOUT_HALF
  }
  if (terms.length > 1 && lacksHalf) return SURE_WITHOUT_HALF
  const weights = terms.map(({ weight }) => weight).toSorted((a, b) => b - a)
  const [rarest = 0, next = 0] = weights
  return rarest > next && unsaid === rarest ? SURE_WITHOUT_RAREST : SURE_ENOUGH
}
