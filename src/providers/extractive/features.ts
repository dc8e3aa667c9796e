/** Computes the features of a run, each from 0 to 1. One is the look that a question seeks: how-to wants code or steps, "when" a time. */

import type { Strengths } from './match.ts'
import type { Question, Sought } from './question.ts'
import { wordsOf } from './runs.ts'
import type { Run } from './runs.ts'
import { FEATURES } from './weights.ts'
import type { Feature } from './weights.ts'

const OPTION =
  /(?<![\w-])--?[a-z][\w-]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|`[^`\n]+`|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w*\b|\b\w+\(/
const DEFINING =
  /\b(?:is|are|was|were|means?|refers? to|stands? for|describes?|represents?|called|known as|defines?|lets?|allows?|provides?|used (?:to|for|by|as)|returns?|indicates?)\b/
const TIME =
  /\b(?:1\d{3}|20\d\d|\d{1,2}(?:st|nd|rd|th)\b|january|february|march|april|june|july|august|september|october|november|december|century|\d{1,2}:\d\d|mon|tues|wednes|thurs|fri|satur|sun)/i
const NUMBER =
  /\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|dozen|no limit|unlimited|none|default)/i
const REASON =
  /\b(?:because|since|due to|so that|in order to|reason|therefore|as a result|cause[sd]?|owing to|to avoid|to prevent)\b/i
const NAME = /(?<![.!?]\s)(?<=\s)\p{Lu}\p{Ll}+/u
const PATH = /[\w~.%$-]*[\\/][\w.-]+|\b\w+\.\w{1,5}\b/

const LOOKS: Readonly<Partial<Record<Sought, RegExp>>> = {
  name: OPTION,
  time: TIME,
  number: NUMBER,
  reason: REASON,
  person: NAME,
  place: NAME,
}
const STEPS = /`[^`\n]{2,}`|^\s*\d+[.)]\s/m

/** Reports whether a text has the look of the sought answer, judged from the text alone. */
export function hasLook(sought: Sought, text: string): boolean {
  return LOOKS[sought]?.test(text) === true || (sought === 'place' && PATH.test(text))
}

function looksLike(question: Question, run: Run): boolean {
  const { sought } = question
  const { pieces, reading } = run
  const { text } = reading.passage
  const isCode = pieces.some(({ piece }) => piece.kind === 'code')
  if (sought === 'definition') return defines(question, run)
  if (sought === 'steps') return isCode || pieces.some(({ piece }) => STEPS.test(text.slice(piece.start, piece.end)))
  return (sought === 'name' && isCode) || pieces.some(({ piece }) => hasLook(sought, text.slice(piece.start, piece.end)))
}

/** Reports whether the run names the subject early in a sentence and defines it, or begins the section of that name. */
function defines(question: Question, { pieces, reading, first, section }: Run): boolean {
  const isFirst = reading.pieces[first - 1]?.piece.section !== section
  if (isFirst && shareOf(question, reading.heading(section)) > HALF) return true
  return pieces.some(
    ({ piece, sentences }) =>
      piece.kind !== 'code' &&
      sentences.some(
        ({ start, end, strengths }) =>
          shareOf(question, strengths) > HALF && DEFINING.test(reading.passage.text.slice(start, Math.min(end, start + EARLY))),
      ),
  )
}

const HALF = 0.5
/** Most UTF-16 units from the start of a sentence that count as early. */
const EARLY = 120

/** Returns the share of the question that is covered, from 0 to 1. */
export function shareOf({ terms }: Question, said: Strengths): number {
  return terms.reduce((sum, { weight }, at) => sum + weight * (said[at] ?? 0), 0)
}

export interface ScoredRun {
  readonly run: Run
  /** In the order of `FEATURES`. */
  readonly features: Float64Array
  /** How well text, headings and title match each term. */
  readonly said: Strengths
}

const WORDS_OF_ONE_SENTENCE = 15
/** log2 of the words of the longest run. */
const LONGEST = 7

export function scoreRun(question: Question, run: Run): ScoredRun {
  const { reading, pieces, section } = run
  const text = new Float64Array(question.terms.length)
  const pairs = new Float64Array(question.terms.length)
  let sentence = 0
  for (const one of pieces.flatMap(({ sentences }) => sentences)) {
    sentence = Math.max(sentence, shareOf(question, one.strengths))
    for (let at = 0; at < text.length; at++) {
      text[at] = Math.max(text[at] ?? 0, one.strengths[at] ?? 0)
      pairs[at] = Math.max(pairs[at] ?? 0, one.pairs[at] ?? 0)
    }
  }
  const path = reading.path(section)
  const said = text.map((strength, at) => Math.max(strength, path[at] ?? 0))
  const words = wordsOf(pieces)
  const values: Record<Feature, number> = {
    sentence,
    all: shareOf(question, said),
    heading: shareOf(question, reading.heading(section)),
    headingSaid: reading.headingSaid(section),
    pairs: shareOf(question, pairs),
    density: shareOf(question, text) / (1 + Math.log2(1 + words / WORDS_OF_ONE_SENTENCE)),
    search: reading.passage.score,
    look: looksLike(question, run) ? 1 : 0,
    first: reading.pieces[run.first - 1]?.piece.section === section ? 0 : 1,
    length: Math.min(1, Math.log2(1 + words) / LONGEST),
  }
  return { run, said, features: Float64Array.from(FEATURES, (feature) => values[feature]) }
}
