/** Answers a question by quoting passages, or says that they do not hold the answer. Pure: no clock, no chance, no state. */

import { confidenceOf, needed, readSigns } from './abstain.ts'
import { scoreWindows } from './features.ts'
import { readsAsCitation } from './markup.ts'
import type { Passage, Quote } from './passage.ts'
import { readQuestion } from './question.ts'
import { rank } from './rank.ts'
import type { Ranked } from './rank.ts'
import { readPassages } from './reading.ts'
import { select } from './select.ts'
import { ABSTENTION, NO_QUESTION } from './wording.ts'

/** Words of a quote at most; longer sentences are cut between clauses. */
export const LONGEST_QUOTE = 40

export interface ExtractiveOptions {
  /** Inverse document frequency of each analysed word of the question, where the store knows it. */
  readonly weights?: Readonly<Record<string, number>> | undefined
  /** Added to the confidence that is needed: above 0 it refuses more, below it answers more. Default 0. */
  readonly caution?: number | undefined
}

export interface ExtractiveAnswer {
  readonly abstained: boolean
  /** Markdown: each quote a paragraph that ends with its marker; or the one sentence that says there is no answer. */
  readonly text: string
  /** Best first; empty when it abstained. */
  readonly quotes: readonly Quote[]
  /** 0 to 1: how sure it is that the first quote answers. Known when it abstained too. */
  readonly confidence: number
  /** From which confidence on it answers this question. */
  readonly needed: number
}

/**
 * @param passages best first.
 * @returns at most three quotes of at most `LONGEST_QUOTE` words, the best one first. Never throws, whatever the text.
 */
export function answerFromPassages(
  question: string,
  passages: readonly Passage[],
  options: ExtractiveOptions = {},
): ExtractiveAnswer {
  const read = readQuestion(question, options.weights)
  if (read.words.length === 0) return { abstained: true, text: NO_QUESTION, quotes: [], confidence: 0, needed: 1 }
  const readings = readPassages(read, passages, LONGEST_QUOTE)
  const ranked = rank(scoreWindows(read, readings, LONGEST_QUOTE))
  const confidence = confidenceOf(readSigns(read, readings, ranked))
  const [best] = ranked
  const least = best === undefined ? 1 : needed(read, readings, best) + (options.caution ?? 0)
  if (best === undefined || confidence < least) {
    return { abstained: true, text: ABSTENTION, quotes: [], confidence, needed: least }
  }
  const quotes = select(ranked).map(quoteOf)
  return { abstained: false, text: quotes.map(paragraph).join('\n\n'), quotes, confidence, needed: least }
}

function quoteOf({ reading: { passage, units }, window: { start, end, last } }: Ranked): Quote {
  const text = passage.text.slice(start, end)
  return {
    marker: passage.marker,
    start,
    end,
    text,
    ...(passage.isCode === true ? { remark: true } : {}),
    ...(units[last]?.kind === 'code' || readsAsCitation(text) ? { code: true } : {}),
  }
}

/** What begins each line of a remark, and what ends it; the lookbehinds keep a long run of spaces or stars from being read again and again. */
const MARGIN = /(?<![ \t])[ \t]*(?<!\*)(?:\*+\/|-->)[ \t]*(?=\n)|\n[ \t]*(?:\*+|\/\/[/!]*|#+:?|--+|;+|%+)(?=[ \t])/g

/** One line, whatever line breaks the source has. Code is marked as such, so that its brackets are not read as markers. */
export function paragraph({ text, code, remark, marker }: Quote): string {
  const said = remark === true ? text.replaceAll(MARGIN, '\n') : text
  const line = said.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return `${code === true ? asCode(line) : line} [${marker}]`
}

function asCode(line: string): string {
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``
}
