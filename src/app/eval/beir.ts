/** Reads a collection in the format of BEIR (Thakur et al., 2021): `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`. */

import { createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { CriaError } from '../../core/error.ts'
import type { Judgments } from './metrics.ts'

export interface BeirDocument {
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface BeirQuery {
  readonly id: string
  readonly text: string
}

/** @throws CriaError `not_found` or `invalid_request` that names file and line. */
export async function checkBeirFolder(folder: string): Promise<void> {
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new CriaError('not_found', `${folder} is no folder. ${EXPECTED}`)
  for (const file of ['corpus.jsonl', 'queries.jsonl', join('qrels', 'test.tsv')]) {
    const path = join(folder, file)
    await access(path).catch((cause: unknown) => {
      throw new CriaError('not_found', `${path} does not exist. ${EXPECTED}`, { cause })
    })
  }
}

const EXPECTED = 'A BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv.'

/** One after the other, so that a large corpus need not fit into memory. */
export async function* readCorpus(folder: string): AsyncGenerator<BeirDocument> {
  for await (const line of readObjects(join(folder, 'corpus.jsonl'))) {
    yield { id: idOf(line), title: textOf(line, 'title', ''), text: textOf(line, 'text') }
  }
}

export async function readQueries(folder: string): Promise<BeirQuery[]> {
  const queries: BeirQuery[] = []
  for await (const line of readObjects(join(folder, 'queries.jsonl')))
    queries.push({ id: idOf(line), text: textOf(line, 'text') })
  return queries
}

/** Grades by query and document. */
export async function readJudgments(folder: string): Promise<Map<string, Judgments>> {
  const file = join(folder, 'qrels', 'test.tsv')
  const judgments = new Map<string, Map<string, number>>()
  for await (const { number, content } of readLines(file)) {
    const [query, document, grade, more] = content.split('\t')
    const value = Number(grade)
    if (query === undefined || document === undefined || grade === undefined || grade.trim() === '' || more !== undefined) {
      throw new CriaError(
        'invalid_request',
        `${file}, line ${number}: expected query id, document id and grade, separated by tabs.`,
      )
    }
    if (!Number.isFinite(value)) {
      if (number === 1) continue
      throw new CriaError('invalid_request', `${file}, line ${number}: the grade ${JSON.stringify(grade)} is no number.`)
    }
    const known = judgments.get(query)
    if (known === undefined) judgments.set(query, new Map([[document, value]]))
    else known.set(document, value)
  }
  return judgments
}

interface Line {
  readonly file: string
  readonly number: number
  readonly content: string
}

interface ObjectLine extends Line {
  readonly value: Readonly<Record<string, unknown>>
}

async function* readLines(file: string): AsyncGenerator<Line> {
  let number = 0
  for await (const content of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (content.trim() !== '') yield { file, number, content: number === 1 ? content.replace(/^\ufeff/, '') : content }
  }
}

async function* readObjects(file: string): AsyncGenerator<ObjectLine> {
  for await (const line of readLines(file)) yield { ...line, value: parseObject(line) }
}

function parseObject({ file, number, content }: Line): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    throw new CriaError('invalid_request', `${file}, line ${number}: this is not JSON.`, { cause: error })
  }
  throw new CriaError('invalid_request', `${file}, line ${number}: expected a JSON object.`)
}

function idOf(line: ObjectLine): string {
  const id = line.value['_id']
  if (typeof id === 'string' && id !== '') return id
  if (typeof id === 'number') return String(id)
  throw new CriaError('invalid_request', `${line.file}, line ${line.number}: "_id" must be a string.`)
}

function textOf({ file, number, value }: ObjectLine, field: string, fallback?: string): string {
  const found = value[field] ?? fallback
  if (typeof found === 'string') return found
  throw new CriaError('invalid_request', `${file}, line ${number}: "${field}" must be a string.`)
}
