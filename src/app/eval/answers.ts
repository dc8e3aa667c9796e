/** Answers the questions of a collection and scores the answers: `cria eval answers`. */

import { writeFile } from 'node:fs/promises'
import type { Citation } from '../../core/citation.ts'
import { toCriaError } from '../../core/error.ts'
import { EXTRACTIVE_REF } from '../../providers/extractive/model.ts'
import { scoreAnswers } from './answer-score.ts'
import type { AnswerScores, Prediction } from './answer-score.ts'
import { readDocuments, readQuestions } from './collection.ts'

const NOTHING = { answer: '', quote: '', block: '', docId: '' }

/** One question through the whole product. */
export type AnswerQuestion = (question: string) => Promise<Answered>

/** An answer with its evidence, see `Prediction`. */
export interface Answered extends Required<Omit<Prediction, 'id'>> {
  readonly abstained: boolean
}

/** What a bot said, as far as it is scored. */
export interface Said {
  readonly content: string
  readonly abstained?: boolean
  readonly citations?: readonly Pick<Citation, 'source' | 'quote' | 'claim'>[]
}

/**
 * The first citation is the evidence. A model that writes is scored by what it wrote, without its markers; the one that only quotes by the
 * words of its quote that answer, where the question asks for something that can be told by its look.
 */
export function toAnswered({ content, abstained = false, citations = [] }: Said, model: string): Answered {
  const [first] = citations
  const quote = first?.quote ?? ''
  const answer = model === EXTRACTIVE_REF ? quote : content.replaceAll(/\s*\[\d+\]/g, '')
  const block = first?.claim === undefined ? quote : content.slice(first.claim.start, first.claim.end).replace(/\s*\[\d+\]$/, '')
  return { answer: answer === '' ? content : answer, quote, block, docId: first?.source ?? '', abstained }
}

export interface AnswerReport extends AnswerScores {
  /** What was answered, in the order of the questions. */
  readonly predictions: readonly Prediction[]
  /** Mean wall time of a question, in milliseconds. */
  readonly msPerQuestion: number
}

export interface EvaluateAnswersOptions {
  /** Where to write one `{ _id, answer, quote, doc_id, block }` a line; `answer` is empty when it abstained. */
  readonly predictions?: string | undefined
  readonly onProgress?: ((done: number, of: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * @param folder holds `corpus.jsonl`, `answers.jsonl` and, where there are some, `unanswerable.jsonl`.
 * @throws CriaError `not_found` or `invalid_request` when a file is missing or a line of it cannot be read.
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
