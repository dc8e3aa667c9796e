/** Answers the questions of a collection and scores the answers: `cria eval answers`. */

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Citation } from '../../core/citation.ts'
import { toCriaError } from '../../core/error.ts'
import { EXTRACTIVE_REF } from '../../providers/extractive/model.ts'
import { scoreAnswers } from './answer-score.ts'
import type { AnswerScores, GoldQuestion, Prediction } from './answer-score.ts'
import { readObjects, textOf, textsOf } from './lines.ts'
import type { ObjectLine } from './lines.ts'

const NOTHING = { answer: '', quote: '', block: '', docId: '' }

/** One question through the whole product. */
export type AnswerQuestion = (question: string) => Promise<Answered>

export interface Answered {
  readonly answer: string
  /** The words of the document that the answer appeals to first. */
  readonly quote: string
  /** All that is shown of that place. */
  readonly block: string
  readonly docId: string
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
    const { answer, quote, block, docId, abstained } = await answerQuestion(question)
    predictions.push({ id, ...(abstained ? NOTHING : { answer, quote, block, docId }) })
    options.onProgress?.(predictions.length, questions.length)
  }
  const msPerQuestion = questions.length === 0 ? 0 : (performance.now() - started) / questions.length
  if (options.predictions !== undefined) await writeFile(options.predictions, predictions.map(predictionLine).join(''))
  const cited = new Set(predictions.map((prediction) => prediction.docId))
  return { ...scoreAnswers(questions, predictions, await readDocuments(folder, cited)), predictions, msPerQuestion }
}

/** Answerable questions first. */
export async function readQuestions(folder: string): Promise<GoldQuestion[]> {
  const questions: GoldQuestion[] = []
  for await (const line of readObjects(join(folder, 'answers.jsonl'), A_COLLECTION)) questions.push(toQuestion(line))
  const unanswerable = join(folder, 'unanswerable.jsonl')
  if (await exists(unanswerable))
    for await (const line of readObjects(unanswerable, A_COLLECTION)) questions.push({ ...toQuestion(line), answers: [] })
  return questions
}

/** Title and text of the documents that were cited. */
export async function readDocuments(folder: string, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const documents = new Map<string, string>()
  for await (const line of readObjects(join(folder, 'corpus.jsonl'), A_COLLECTION)) {
    const id = textOf(line, '_id')
    if (ids.has(id)) documents.set(id, `${textOf(line, 'title', '')}\n${textOf(line, 'text', '')}`)
  }
  return documents
}

const A_COLLECTION = 'a collection with corpus.jsonl and answers.jsonl'

function toQuestion(line: ObjectLine): GoldQuestion {
  return {
    id: textOf(line, '_id'),
    question: textOf(line, 'question'),
    answers: textsOf(line, 'answers'),
    docIds: textsOf(line, 'doc_ids'),
    source: textOf(line, 'source', ''),
  }
}

/** Reads what `predictions` wrote. @throws CriaError `not_found` or `invalid_request` that names the line. */
export async function readPredictions(file: string): Promise<Prediction[]> {
  const predictions: Prediction[] = []
  for await (const line of readObjects(file, 'answers, as --predictions writes them')) {
    predictions.push({
      id: textOf(line, '_id'),
      answer: textOf(line, 'answer', ''),
      quote: textOf(line, 'quote', ''),
      docId: textOf(line, 'doc_id', ''),
      block: textOf(line, 'block', textOf(line, 'quote', '')),
    })
  }
  return predictions
}

function predictionLine({ id, answer, quote, block = quote, docId }: Prediction): string {
  return `${JSON.stringify({ _id: id, answer, quote, doc_id: docId, block })}\n`
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}
