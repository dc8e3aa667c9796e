/** Answers a question by quoting passages, or abstains. A pure function: no clock, no randomness, no state. */

import { confidenceOf, scoreOf, signsOf } from './confidence.ts'
import { decisiveRange } from './decisive.ts'
import { scoreRun } from './features.ts'
import type { ScoredRun } from './features.ts'
import { Matcher } from './match.ts'
import type { Reading } from './match.ts'
import type { Passage } from './passage.ts'
import type { Range } from '../../util/range.ts'
import { readQuestion, readQuestions } from './question.ts'
import type { Question } from './question.ts'
import { grown, overlap, runsOf, wordsOf } from './runs.ts'
import type { Room, Run } from './runs.ts'
import { headOf, showRun } from './show.ts'
import { THRESHOLD } from './weights.ts'

/** The size limits of the first block, and of later blocks. */
const ROOMS: readonly Room[] = [
  { words: 100, lines: 16 },
  { words: 15, lines: 6 },
  { words: 15, lines: 6 },
]
const MOST_NEAREST = 3
const ABSTENTION = 'The documents do not contain the answer to this question.'
const NO_QUESTION = 'There is no question to answer.'
const NEAREST = 'Nearest places:'
/** Least words of a further block; a shorter one is not informative. */
const LEAST_WORDS = 6

export interface ExtractiveOptions {
  /** Inverse document frequency of each analysed word of the question, if the store knows it. */
  readonly weights?: Readonly<Record<string, number>> | undefined
}

/** A quoted place. */
export interface Block {
  readonly marker: string
  /** Markdown that ends in its marker. */
  readonly text: string
  /** The decisive words: a range of the passage, at most 40 words long. */
  readonly quote: Range
}

export interface ExtractiveAnswer {
  readonly abstained: boolean
  /** Best first; empty after an abstention. */
  readonly blocks: readonly Block[]
  /** Markdown: the blocks, or the message that there is no answer. */
  readonly text: string
  /** Log-odds that the passages contain the answer; set for an abstention too. */
  readonly confidence: number
}

/**
 * @param passages best first.
 * @returns at most three blocks of at most 120 words or 20 lines, the best one first. Never throws, whatever the text.
 */
export function answerFromPassages(
  question: string,
  passages: readonly Passage[],
  { weights }: ExtractiveOptions = {},
): ExtractiveAnswer {
  const whole = readQuestion(question, weights)
  if (whole.terms.length === 0) return { abstained: true, blocks: [], text: NO_QUESTION, confidence: Number.NEGATIVE_INFINITY }
  const parts = readQuestions(question, weights)
  const ranked = rank(whole, passages)
  const lists = parts.length === 1 ? [ranked] : [...parts.map((part) => rank(part, passages)), ranked]
  const confidence = Math.max(...lists.map(({ confidence: own }) => own))
  if (confidence < THRESHOLD || ranked.runs.length === 0) {
    return { abstained: true, blocks: [], text: refusal(ranked.runs), confidence }
  }
  const blocks = choose(lists).map(({ question: asked, run }): Block => {
    const quote = decisiveRange(asked, run)
    return { marker: run.reading.passage.marker, text: showRun(run, quote), quote }
  })
  return { abstained: false, blocks, text: blocks.map(({ text }) => text).join('\n\n'), confidence }
}

export interface Ranking {
  readonly question: Question
  readonly readings: readonly Reading[]
  /** Best first. */
  readonly runs: readonly ScoredRun[]
  readonly confidence: number
}

export function rank(question: Question, passages: readonly Passage[]): Ranking {
  const matcher = new Matcher(question)
  const readings = passages.map((passage) => matcher.read(passage))
  const scored = readings.flatMap(runsOf).map((run) => scoreRun(question, run))
  const scores = new Map(scored.map((run) => [run, scoreOf(run.features)]))
  const runs = scored.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))
  return { question, readings, runs, confidence: confidenceOf(signsOf(question, readings, runs)) }
}

/** Selects one block for each question, then the best of the rest, without repeating a block. */
function choose(lists: readonly Ranking[]): { readonly question: Question; readonly run: Run }[] {
  const chosen: { question: Question; run: Run }[] = []
  for (const [at, room] of ROOMS.entries()) {
    const list = lists[Math.min(at, lists.length - 1)]
    const next = list?.runs.find(
      ({ run }) => (at === 0 || wordsOf(run.pieces) >= LEAST_WORDS) && !chosen.some((one) => overlap(one.run, run)),
    )
    if (list !== undefined && next !== undefined) chosen.push({ question: list.question, run: grown(next.run, room) })
  }
  return chosen
}

/** Formats the abstention and the nearest places: each document once, with its nearest headings. */
function refusal(runs: readonly ScoredRun[]): string {
  const bySource = Map.groupBy(runs.slice(0, MOST_NEAREST * MOST_NEAREST), ({ run }) => run.reading.passage.source)
  const places = [...bySource.values()].slice(0, MOST_NEAREST).flatMap((near) => {
    const [best, ...more] = near.slice(0, MOST_NEAREST).map(({ run }) => run)
    return best === undefined ? [] : headOf(best, ...more)
  })
  return places.length === 0 ? ABSTENTION : `${ABSTENTION}\n\n${NEAREST}\n\n${places.map((place) => `- ${place}`).join('\n')}`
}
