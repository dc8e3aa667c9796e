import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { evaluateAnswers, toAnswered } from './answers.ts'
import { readPredictions } from './collection.ts'
import type { Answered } from './answers.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cria-eval-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const lines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

async function writeCollection(): Promise<void> {
  await writeFile(
    join(folder, 'corpus.jsonl'),
    lines([
      { _id: 'd1', title: 'Gull Light', text: 'Ida Marsh built it in 1874.' },
      { _id: 'd2', text: 'Doves coo.' },
    ]),
  )
  await writeFile(
    join(folder, 'answers.jsonl'),
    lines([{ _id: 'a', question: 'Who built it?', answers: ['Ida Marsh'], doc_ids: ['d1'], source: 'ours' }]),
  )
  await writeFile(
    join(folder, 'unanswerable.jsonl'),
    `${lines([{ _id: 'u', question: 'Who sold it?', answers: [], doc_ids: [] }])}\n`,
  )
}

const answerer = async (question: string): Promise<Answered> =>
  question.includes('built')
    ? {
        answer: 'Ida Marsh',
        quote: 'Ida Marsh built it in 1874.',
        block: 'Mills: Ida Marsh built it in 1874.',
        docId: 'd1',
        abstained: false,
      }
    : { answer: 'The documents do not say.', quote: '', block: '', docId: '', abstained: true }

test('asks, scores and writes every question', async () => {
  await writeCollection()
  const predictions = join(folder, 'predictions.jsonl')
  const progress: string[] = []
  const report = await evaluateAnswers(folder, answerer, {
    predictions,
    onProgress: (done, of) => progress.push(`${done}/${of}`),
  })
  expect(report).toMatchObject({
    questions: 2,
    inQuote: 1,
    exactMatch: 1,
    f1: 1,
    abstained: 0,
    abstainedUnanswerable: 1,
    citeCorrect: 1,
  })
  expect(report.msPerQuestion).toBeGreaterThanOrEqual(0)
  expect(progress).toEqual(['1/2', '2/2'])
  expect(await readFile(predictions, 'utf8')).toBe(
    lines([
      {
        _id: 'a',
        answer: 'Ida Marsh',
        quote: 'Ida Marsh built it in 1874.',
        doc_id: 'd1',
        block: 'Mills: Ida Marsh built it in 1874.',
      },
      { _id: 'u', answer: '', quote: '', doc_id: '', block: '' },
    ]),
  )
})

test('a collection without unanswerable questions is accepted', async () => {
  await writeCollection()
  await rm(join(folder, 'unanswerable.jsonl'))
  expect(await evaluateAnswers(folder, answerer)).toMatchObject({ questions: 1, abstainedUnanswerable: null })
})

test('names a missing file', async () => {
  await expect(evaluateAnswers(folder, answerer)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('answers.jsonl'),
  })
})

test.each([
  ['{"_id": "a", ', 'line 1: this is not JSON'],
  ['[]', 'line 1: expected a JSON object'],
  ['{"_id": 7, "question": "Who?"}', '"_id" must be a string'],
  ['{"_id": "a", "question": "Who?", "answers": "Ida"}', '"answers" must be a list of strings'],
])('rejects the line %s', async (line, message) => {
  await writeCollection()
  await writeFile(join(folder, 'answers.jsonl'), line)
  await expect(evaluateAnswers(folder, answerer)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
  })
})

test('an abort ends the run', async () => {
  await writeCollection()
  await expect(evaluateAnswers(folder, answerer, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

test.each([
  [
    'builtin/extractive',
    'Ida Marsh built it in 1874. [2]',
    {
      answer: 'Ida Marsh built it in 1874.',
      quote: 'Ida Marsh built it in 1874.',
      block: 'Ida Marsh built it in 1874.',
      docId: 'd1',
      abstained: false,
    },
  ],
  [
    'some/writer',
    'It was Ida Marsh [2][3].',
    {
      answer: 'It was Ida Marsh.',
      quote: 'Ida Marsh built it in 1874.',
      block: 'It was Ida Marsh [2][3].',
      docId: 'd1',
      abstained: false,
    },
  ],
])('the answer of %s is scored as %j', (model, content, expected) => {
  const citations = [{ source: 'd1', quote: 'Ida Marsh built it in 1874.', claim: { start: 0, end: content.length } }]
  expect(toAnswered({ content, citations }, model)).toEqual(expected)
})

test('an answer without citations is scored without evidence', () => {
  expect(toAnswered({ content: 'Nobody knows.', abstained: true }, 'builtin/extractive')).toEqual({
    answer: 'Nobody knows.',
    quote: '',
    block: '',
    docId: '',
    abstained: true,
  })
})

test('reports missing predictions', async () => {
  await expect(readPredictions(join(folder, 'gone.jsonl'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('gone.jsonl does not exist: expected answers, as --predictions writes them'),
  })
})
