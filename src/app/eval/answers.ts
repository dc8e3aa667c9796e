/** Answers the questions of a collection and scores the answers: `cria eval answers`. */

import { writeFile } from 'node:fs/promises'
import type { Citation } from '../../core/citation.ts'
import { toCriaError } from '../../core/error.ts'
import { EXTRACTIVE_REF } from '../../providers/extractive/model.ts'
import { scoreAnswers } from './answer-score.ts'
import type { AnswerScores, Prediction } from './answer-score.ts'
import { readDocuments, readQuestions } from './collection.ts'

const NOTHING = { answer: '', quote: '', block: '', docId: '' }

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
 * Converts a bot's answer to a prediction; the first citation is the evidence. The answer of a generating model is scored without its markers;
 * for the quoting model, the quote is the answer.
 */
export function toAnswered({ content, abstained = false, citations = [] }: Said, model: string): Answered {
  const [first] = citations
  const quote = first?.quote ?? ''
  const answer = model === EXTRACTIVE_REF ? quote : content.replaceAll(/\s*\[\d+\]/g, '')
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
    predictions.push({ id, ...(abstained ? NOTHING : answered) })
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
