/** Reads a collection in the format of BEIR (Thakur et al., 2021): `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`. */

import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { mistakeIn, readLines, readObjects, textOf } from './lines.ts'
import type { ObjectLine } from './lines.ts'
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
  if (!isFolder) throw new CriaError('not_found', `${folder} is no folder: expected ${EXPECTED}.`)
  for (const file of ['corpus.jsonl', 'queries.jsonl', join('qrels', 'test.tsv')]) {
    const path = join(folder, file)
    await access(path).catch((cause: unknown) => {
      throw new CriaError('not_found', `${path} does not exist: expected ${EXPECTED}.`, { cause })
    })
  }
}

const EXPECTED = 'a BEIR folder with corpus.jsonl, queries.jsonl and qrels/test.tsv'

/** One after the other, so that a large corpus need not fit into memory. */
export async function* readCorpus(folder: string): AsyncGenerator<BeirDocument> {
  for await (const line of readObjects(join(folder, 'corpus.jsonl'), EXPECTED)) {
    yield { id: idOf(line), title: textOf(line, 'title', ''), text: textOf(line, 'text') }
  }
}

export async function readQueries(folder: string): Promise<BeirQuery[]> {
  const queries: BeirQuery[] = []
  for await (const line of readObjects(join(folder, 'queries.jsonl'), EXPECTED))
    queries.push({ id: idOf(line), text: textOf(line, 'text') })
  return queries
}

/** Grades by query and document. */
export async function readJudgments(folder: string): Promise<Map<string, Judgments>> {
  const judgments = new Map<string, Map<string, number>>()
  for await (const line of readLines(join(folder, 'qrels', 'test.tsv'), EXPECTED)) {
    const [query, document, grade, more] = line.content.split('\t')
    const value = Number(grade)
    if (query === undefined || document === undefined || grade === undefined || grade.trim() === '' || more !== undefined) {
      throw mistakeIn(line, 'expected query id, document id and grade, separated by tabs.')
    }
    if (!Number.isFinite(value)) {
      if (line.number === 1) continue
      throw mistakeIn(line, `the grade ${JSON.stringify(grade)} is no number.`)
    }
    const known = judgments.get(query)
    if (known === undefined) judgments.set(query, new Map([[document, value]]))
    else known.set(document, value)
  }
  return judgments
}

function idOf(line: ObjectLine): string {
  const id = line.value['_id']
  if (typeof id === 'string' && id !== '') return id
  if (typeof id === 'number') return String(id)
  throw mistakeIn(line, '"_id" must be a string.')
}
