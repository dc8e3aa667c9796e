/** Reads collections, runs and predictions: files with one entry per line. Streams large files; errors name the line. */

import { createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { CriaError } from '../core/error.ts'
import type { SourceDocument } from '../core/store.ts'
import { isRecord } from '../util/check.ts'

/** Grades by document; a grade above 0 means relevant. */
export type Judgments = ReadonlyMap<string, number>

export interface RankedDocument {
  readonly id: string
  readonly score: number
}

/** The documents found for each query. */
export type Run = ReadonlyMap<string, readonly RankedDocument[]>

/** A question with every accepted answer; without answers, the documents do not answer it. */
export interface GoldQuestion {
  readonly id: string
  readonly question: string
  readonly answers: readonly string[]
  /** Documents that contain an answer. */
  readonly docIds: readonly string[]
  readonly source?: string
}

/** A system's answer; an empty `answer` is an abstention. */
export interface Prediction {
  readonly id: string
  readonly answer: string
  /** The passage shown as evidence. */
  readonly quote: string
  /** The whole text shown for the first citation; absent where it was not recorded. */
  readonly block?: string
  /** The document that the quote is from. */
  readonly docId: string
}

const BEIR = 'a BEIR folder with corpus.jsonl, queries.jsonl and qrels/test.tsv'
const ANSWERS = 'a collection with corpus.jsonl and answers.jsonl'

/** Checks that the files of a BEIR folder exist (Thakur et al., 2021). @throws CriaError `not_found` that names the first missing file. */
export async function checkBeirFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new CriaError('not_found', `${folder} is not a folder: expected ${BEIR}.`)
  for (const file of ['corpus.jsonl', 'queries.jsonl', join('qrels', 'test.tsv')]) await checkFile(join(folder, file), BEIR)
}

/**
 * Yields the documents in order, with their ids as `source`.
 *
 * @throws CriaError `not_found`, or `invalid_request` that names the line, as all readers here.
 */
export async function* readCorpus(folder: string): AsyncGenerator<SourceDocument> {
  for await (const line of readObjects(join(folder, 'corpus.jsonl'), BEIR)) {
    const title = textOf(line, 'title', '')
    yield { source: beirIdOf(line), text: textOf(line, 'text'), ...(title === '' ? {} : { title }) }
  }
}

export function readQueries(folder: string): Promise<{ readonly id: string; readonly text: string }[]> {
  const lines = readObjects(join(folder, 'queries.jsonl'), BEIR)
  return Array.fromAsync(lines, (line) => ({ id: beirIdOf(line), text: textOf(line, 'text') }))
}

/** Returns the grades by query and document. */
export async function readJudgments(folder: string): Promise<Map<string, Judgments>> {
  const judgments = new Map<string, Map<string, number>>()
  for await (const line of readLines(join(folder, 'qrels', 'test.tsv'), BEIR)) {
    const [query, document, grade, more] = line.content.split('\t')
    const value = Number(grade)
    if (query === undefined || document === undefined || grade === undefined || grade.trim() === '' || more !== undefined) {
      throw mistakeIn(line, 'expected query id, document id and grade, separated by tabs.')
    }
    if (!Number.isFinite(value)) {
      if (line.number === 1) continue
      throw mistakeIn(line, `the grade ${JSON.stringify(grade)} is not a number.`)
    }
    const known = judgments.get(query)
    if (known === undefined) judgments.set(query, new Map([[document, value]]))
    else known.set(document, value)
  }
  return judgments
}

/** Reads a file written by `--run`, in the format of TREC. */
export async function readRun(file: string): Promise<Run> {
  const run = new Map<string, RankedDocument[]>()
  for await (const line of readLines(file, 'a run, as --run writes it')) {
    const [query, , id, , points] = line.content.trim().split(/\s+/)
    const score = Number(points)
    if (query === undefined || id === undefined || points === undefined || Number.isNaN(score)) {
      throw mistakeIn(line, 'expected query, Q0, document, rank, score and a tag.')
    }
    const known = run.get(query)
    if (known === undefined) run.set(query, [{ id, score }])
    else known.push({ id, score })
  }
  return run
}

/** Returns the answerable questions first. */
export async function readQuestions(folder: string): Promise<GoldQuestion[]> {
  const questions = await Array.fromAsync(readObjects(join(folder, 'answers.jsonl'), ANSWERS), toQuestion)
  const file = join(folder, 'unanswerable.jsonl')
  if ((await stat(file).catch(() => undefined)) === undefined) return questions
  const unanswerable = await Array.fromAsync(readObjects(file, ANSWERS), toQuestion)
  return [...questions, ...unanswerable.map((question) => ({ ...question, answers: [] }))]
}

function toQuestion(line: ObjectLine): GoldQuestion {
  return {
    id: textOf(line, '_id'),
    question: textOf(line, 'question'),
    answers: textsOf(line, 'answers'),
    docIds: textsOf(line, 'doc_ids'),
    source: textOf(line, 'source', ''),
  }
}

/** Returns title and text of the cited documents. */
export async function readDocuments(folder: string, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const documents = new Map<string, string>()
  for await (const line of readObjects(join(folder, 'corpus.jsonl'), ANSWERS)) {
    const id = textOf(line, '_id')
    if (ids.has(id)) documents.set(id, `${textOf(line, 'title', '')}\n${textOf(line, 'text', '')}`)
  }
  return documents
}

/** Reads a file written by `--predictions`. */
export function readPredictions(file: string): Promise<Prediction[]> {
  return Array.fromAsync(readObjects(file, 'answers, as --predictions writes them'), (line) => ({
    id: textOf(line, '_id'),
    answer: textOf(line, 'answer', ''),
    quote: textOf(line, 'quote', ''),
    docId: textOf(line, 'doc_id', ''),
    block: textOf(line, 'block', textOf(line, 'quote', '')),
  }))
}

interface Line {
  readonly file: string
  /** Line number, from 1. */
  readonly number: number
  readonly content: string
}

interface ObjectLine extends Line {
  readonly value: Readonly<Record<string, unknown>>
}

/** @param expected describes the expected file, for the error. */
async function checkFile(file: string, expected: string): Promise<void> {
  await access(file).catch((cause: unknown) => {
    throw new CriaError('not_found', `${file} does not exist: expected ${expected}.`, { cause })
  })
}

/** Yields the lines that are not blank. */
async function* readLines(file: string, expected: string): AsyncGenerator<Line> {
  await checkFile(file, expected)
  let number = 0
  for await (const content of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (content.trim() !== '') yield { file, number, content: number === 1 ? content.replace(/^\ufeff/, '') : content }
  }
}

async function* readObjects(file: string, expected: string): AsyncGenerator<ObjectLine> {
  for await (const line of readLines(file, expected)) {
    let value: unknown
    try {
      value = JSON.parse(line.content)
    } catch (cause) {
      throw mistakeIn(line, 'this is not JSON.', cause)
    }
    if (!isRecord(value)) throw mistakeIn(line, 'expected a JSON object.')
    yield { ...line, value }
  }
}

/** Accepts numbers as ids too: some collections have them. */
function beirIdOf(line: ObjectLine): string {
  const id = line.value['_id']
  if (typeof id === 'number') return String(id)
  if (id !== '') return textOf(line, '_id')
  throw mistakeIn(line, '"_id" must be a string.')
}

/** @param fallback replaces a missing field; without it, a missing field is an error. */
function textOf(line: ObjectLine, field: string, fallback?: string): string {
  const found = line.value[field] ?? fallback
  if (typeof found === 'string') return found
  throw mistakeIn(line, `"${field}" must be a string.`)
}

function textsOf(line: ObjectLine, field: string): string[] {
  const found = line.value[field] ?? []
  if (Array.isArray(found) && found.every((item) => typeof item === 'string')) return found
  throw mistakeIn(line, `"${field}" must be a list of strings.`)
}

function mistakeIn({ file, number }: Line, what: string, cause?: unknown): CriaError {
  return new CriaError('invalid_request', `${file}, line ${number}: ${what}`, cause === undefined ? {} : { cause })
}
