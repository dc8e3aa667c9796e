/**
 * Answers the questions of a collection, and scores the answers against gold answers: SQuAD 1.1's exact match and F1 (Rajpurkar et al., "SQuAD:
 * 100,000+ Questions for Machine Comprehension of Text", 2016), and whether the quoted evidence is genuine and contains the answer.
 */

import { writeFile } from 'node:fs/promises'
import type { Citation } from '../core/citation.ts'
import { toCriaError } from '../core/error.ts'
import { readDocuments, readQuestions } from './collection.ts'
import type { GoldQuestion, Prediction } from './collection.ts'
import { mean } from './statistics.ts'

const NO_ANSWER = { answer: '', quote: '', block: '', docId: '' }

/** Answers one question through the whole product. */
export type AnswerQuestion = (question: string) => Promise<Answered>

/** An answer with its evidence, see `Prediction`. */
export interface Answered extends Required<Omit<Prediction, 'id'>> {
  readonly abstained: boolean
}

/** The members of a bot's answer that are scored. */
export interface Said {
  readonly content: string
  readonly abstained?: boolean
  readonly citations?: readonly Pick<Citation, 'source' | 'quote' | 'claim'>[]
}

/**
 * Converts a bot's answer to a prediction; the first citation is the evidence. Markers of citations are removed from the answer.
 *
 * @param options.quotes the model only quotes, so that its quote is the answer.
 */
export function toAnswered(
  { content, abstained = false, citations = [] }: Said,
  { quotes }: { readonly quotes: boolean },
): Answered {
  const [first] = citations
  const quote = first?.quote ?? ''
  const answer = quotes ? quote : content.replaceAll(/\s*\[\d+\]/g, '')
  const block = first?.claim === undefined ? quote : content.slice(first.claim.start, first.claim.end).replace(/\s*\[\d+\]$/, '')
  return { answer: answer === '' ? content : answer, quote, block, docId: first?.source ?? '', abstained }
}

export interface AnswerReport extends AnswerScores {
  /** The answers, in the order of the questions. */
  readonly predictions: readonly Prediction[]
  /** Mean wall time of a question, in milliseconds. */
  readonly msPerQuestion: number
}

export interface EvaluateAnswersOptions {
  /** File that receives one `{ _id, answer, quote, doc_id, block }` per line; `answer` is empty for an abstention. */
  readonly predictions?: string | undefined
  readonly onProgress?: ((done: number, of: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * @param folder contains `corpus.jsonl`, `answers.jsonl` and, optionally, `unanswerable.jsonl`.
 * @throws CriaError `not_found` or `invalid_request` when a file is missing or a line cannot be read.
 */
export async function evaluateAnswers(
  folder: string,
  answerQuestion: AnswerQuestion,
  options: EvaluateAnswersOptions = {},
): Promise<AnswerReport> {
  const questions = await readQuestions(folder)
  const predictions: Prediction[] = []
  const started = performance.now()
  for (const { id, question } of questions) {
    if (options.signal?.aborted === true) throw toCriaError(options.signal.reason, 'aborted')
    const { abstained, ...answered } = await answerQuestion(question)
    predictions.push({ id, ...(abstained ? NO_ANSWER : answered) })
    options.onProgress?.(predictions.length, questions.length)
  }
  const msPerQuestion = questions.length === 0 ? 0 : (performance.now() - started) / questions.length
  if (options.predictions !== undefined) await writeFile(options.predictions, predictions.map(predictionLine).join(''))
  const cited = new Set(predictions.map((prediction) => prediction.docId))
  return { ...scoreAnswers(questions, predictions, await readDocuments(folder, cited)), predictions, msPerQuestion }
}

function predictionLine({ id, answer, quote, block = quote, docId }: Prediction): string {
  return `${JSON.stringify({ _id: id, answer, quote, doc_id: docId, block })}\n`
}

/** All shares are between 0 and 1. An abstention counts as a miss in every measure of the answerable questions. */
export interface AnswerScores {
  /** Questions asked, answerable or not. */
  readonly questions: number
  readonly answerable: number
  readonly unanswerable: number
  /** Share of answerable questions whose quote is verbatim in the cited document, has at most 40 words and contains a gold answer. */
  readonly inQuote: number
  /** As `inQuote`, without the limit of words. */
  readonly inQuoteAnyLength: number
  readonly exactMatch: number
  readonly f1: number
  /** Share of answerable questions without an answer. */
  readonly abstained: number
  /** Share of unanswerable questions without an answer; `null` where there are no such questions. */
  readonly abstainedUnanswerable: number | null
  /** Share of answered answerable questions whose cited document contains an answer. */
  readonly citeCorrect: number
  /** Share of answered answerable questions whose quote is verbatim in the cited document. */
  readonly quoteVerbatim: number
  /** Mean number of words in a quote. */
  readonly quoteWords: number
  /** The questions that failed `inQuote`, to be read by a person. */
  readonly missed: readonly string[]
}

const LONGEST_QUOTE_WORDS = 40

/** @param documents text of each cited document by id, title included; others may be left out. */
export function scoreAnswers(
  questions: readonly GoldQuestion[],
  predictions: readonly Prediction[],
  documents: ReadonlyMap<string, string>,
): AnswerScores {
  const scored = scoreEach(questions, predictions, documents)
  const answerable = scored.filter((one) => !one.isUnanswerable)
  const unanswerable = scored.filter((one) => one.isUnanswerable)
  const answered = answerable.filter((one) => !one.abstained)
  const share = (rows: readonly Scored[], test: (one: Scored) => boolean): number => mean(rows.map((one) => (test(one) ? 1 : 0)))
  return {
    questions: questions.length,
    answerable: answerable.length,
    unanswerable: unanswerable.length,
    inQuote: share(answerable, (one) => one.inQuote),
    inQuoteAnyLength: share(answerable, (one) => one.grounded),
    exactMatch: share(answerable, (one) => one.exact),
    f1: mean(answerable.map((one) => one.f1)),
    abstained: share(answerable, (one) => one.abstained),
    abstainedUnanswerable: unanswerable.length === 0 ? null : share(unanswerable, (one) => one.abstained),
    citeCorrect: share(answered, (one) => one.citeCorrect),
    quoteVerbatim: share(answered, (one) => one.verbatim),
    quoteWords: mean(answered.map((one) => one.quoteWords)),
    missed: answerable.filter((one) => !one.inQuote).map((one) => one.id),
  }
}

/** The scores of one question; `inQuote` and `grounded` are always false for an unanswerable question. */
export interface Scored {
  readonly id: string
  readonly isUnanswerable: boolean
  readonly abstained: boolean
  readonly exact: boolean
  readonly f1: number
  readonly grounded: boolean
  readonly inQuote: boolean
  readonly verbatim: boolean
  readonly citeCorrect: boolean
  readonly quoteWords: number
}

/** Scores each question separately; returns the scores in the order of the questions. */
export function scoreEach(
  questions: readonly GoldQuestion[],
  predictions: readonly Prediction[],
  documents: ReadonlyMap<string, string>,
): Scored[] {
  const byId = new Map(predictions.map((prediction) => [prediction.id, prediction]))
  return questions.map((question) => scoreOne(question, byId.get(question.id), documents))
}

const ABSTAINED = {
  abstained: true,
  exact: false,
  f1: 0,
  grounded: false,
  inQuote: false,
  verbatim: false,
  citeCorrect: false,
  quoteWords: 0,
} as const

function scoreOne(
  { id, answers, docIds }: GoldQuestion,
  prediction: Prediction | undefined,
  documents: ReadonlyMap<string, string>,
): Scored {
  const isUnanswerable = answers.length === 0
  const answer = folded(prediction?.answer ?? '')
  if (prediction === undefined || answer === '') return { id, isUnanswerable, ...ABSTAINED }
  const quote = folded(prediction.quote) || answer
  const quoteWords = quote.split(' ').length
  const verbatim = folded(documents.get(prediction.docId) ?? '').includes(quote)
  const grounded = verbatim && answers.some((gold) => holds(quote, gold))
  return {
    id,
    isUnanswerable,
    abstained: false,
    exact: answers.some((gold) => normalized(gold).join(' ') === normalized(answer).join(' ')),
    f1: Math.max(0, ...answers.map((gold) => f1(answer, gold))),
    grounded,
    inQuote: grounded && quoteWords <= LONGEST_QUOTE_WORDS,
    verbatim,
    citeCorrect: docIds.includes(prediction.docId),
    quoteWords,
  }
}

/** SQuAD's normal form: lower case, no ASCII punctuation, no articles, split at white space. */
export function normalized(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[!-/:-@[-`{-~]/g, '')
    .replaceAll(/\b(?:a|an|the)\b/g, ' ')
    .split(/\s+/)
    .filter((token) => token !== '')
}

/** Harmonic mean of precision and recall over the tokens of both, as bags; 1 when both are empty. */
export function f1(prediction: string, gold: string): number {
  const said = normalized(prediction)
  const wanted = normalized(gold)
  if (said.length === 0 || wanted.length === 0) return said.length === wanted.length ? 1 : 0
  const open = new Map<string, number>()
  for (const token of wanted) open.set(token, (open.get(token) ?? 0) + 1)
  let common = 0
  for (const token of said) {
    const left = open.get(token) ?? 0
    if (left === 0) continue
    open.set(token, left - 1)
    common++
  }
  return common === 0 ? 0 : (2 * common) / (said.length + wanted.length)
}

/** Reports whether the text contains the gold answer, token by token. */
export function holds(text: string, gold: string): boolean {
  const tokens = normalized(gold)
  return tokens.length > 0 && ` ${normalized(text).join(' ')} `.includes(` ${tokens.join(' ')} `)
}

function folded(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
