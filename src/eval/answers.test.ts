import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { evaluateAnswers, f1, holds, normalized, scoreAnswers, toAnswered } from './answers.ts'
import type { Answered } from './answers.ts'
import { readPredictions } from './collection.ts'
import type { GoldQuestion, Prediction } from './collection.ts'

let folder = ''
folderForEach((made) => {
  folder = made
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
    'a quoting model',
    true,
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
    'a writing model',
    false,
    'It was Ida Marsh [2][3].',
    {
      answer: 'It was Ida Marsh.',
      quote: 'Ida Marsh built it in 1874.',
      block: 'It was Ida Marsh [2][3].',
      docId: 'd1',
      abstained: false,
    },
  ],
])('the answer of %s', (_, quotes, content, expected) => {
  const citations = [{ source: 'd1', quote: 'Ida Marsh built it in 1874.', claim: { start: 0, end: content.length } }]
  expect(toAnswered({ content, citations }, { quotes })).toEqual(expected)
})

test('an answer without citations is scored without evidence', () => {
  expect(toAnswered({ content: 'It is not known.', abstained: true }, { quotes: true })).toEqual({
    answer: 'It is not known.',
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

describe('normal form', () => {
  test.each([
    ['The Blue Door', ['blue', 'door']],
    ['an  apple, a pear; the "fig"!', ['apple', 'pear', 'fig']],
    ['3.5 km (approx.)', ['35', 'km', 'approx']],
    ['Anna theme', ['anna', 'theme']],
    ['', []],
    ['“quoted”', ['“quoted”']],
  ])('%j is %j', (text, tokens) => {
    expect(normalized(text)).toEqual(tokens)
  })
})

describe('F1 over tokens', () => {
  const scores: (readonly [score: number, pairs: readonly (readonly [said: string, gold: string])[]])[] = [
    [
      1,
      [
        ['the red fox', 'Red Fox'],
        ['the', 'an'],
      ],
    ],
    [
      2 / 3,
      [
        ['red', 'red fox'],
        ['red red', 'red'],
      ],
    ],
    [
      0,
      [
        ['owl', 'fox'],
        ['', 'fox'],
      ],
    ],
  ]
  test.each(scores)('is %d for %j', (score, pairs) => {
    for (const [said, gold] of pairs) expect(f1(said, gold)).toBeCloseTo(score, 10)
  })
})

describe('holds()', () => {
  test('finds the tokens of the gold answer side by side, whatever their case', () => {
    expect(holds('It was built in 1874.', '1874')).toBe(true)
    expect(holds('They met Ida Marsh there', 'ida marsh')).toBe(true)
  })

  test('does not find parts of a token, scattered tokens, or an answer without tokens', () => {
    expect(holds('It was built in 18745.', '1874')).toBe(false)
    expect(holds('They met Ida and Marsh', 'Ida Marsh')).toBe(false)
    expect(holds('anything', 'the')).toBe(false)
  })
})

describe('scores of a collection', () => {
  const questions: GoldQuestion[] = [
    { id: 'a', question: 'Who built it?', answers: ['Ida Marsh'], docIds: ['d1'] },
    { id: 'b', question: 'When was it built?', answers: ['1874', 'in 1874'], docIds: ['d1'] },
    { id: 'c', question: 'What colour is it?', answers: ['white'], docIds: ['d1'] },
    { id: 'd', question: 'Who painted it?', answers: [], docIds: [] },
    { id: 'e', question: 'Who sold it?', answers: [], docIds: [] },
  ]
  const documents = new Map([
    ['d1', 'Gull Light\nThe lighthouse was built by\nIda Marsh in 1874. It is painted white.'],
    ['d2', 'Doves\nDoves are white birds.'],
  ])
  const predictions: Prediction[] = [
    { id: 'a', answer: 'Ida Marsh', quote: 'The lighthouse was built by Ida Marsh in 1874.', docId: 'd1' },
    { id: 'b', answer: '', quote: '', docId: '' },
    { id: 'c', answer: 'white birds', quote: 'Doves are white birds.', docId: 'd2' },
    { id: 'd', answer: ' ', quote: '', docId: '' },
    { id: 'e', answer: 'Ida', quote: 'Ida Marsh', docId: 'd1' },
  ]

  test('are shares of the answerable, unanswerable and answered questions', () => {
    expect(scoreAnswers(questions, predictions, documents)).toEqual({
      questions: 5,
      answerable: 3,
      unanswerable: 2,
      inQuote: 2 / 3,
      inQuoteAnyLength: 2 / 3,
      exactMatch: 1 / 3,
      f1: (1 + 0 + 2 / 3) / 3,
      abstained: 1 / 3,
      abstainedUnanswerable: 1 / 2,
      citeCorrect: 1 / 2,
      quoteVerbatim: 1,
      quoteWords: 6.5,
      missed: ['b'],
    })
  })

  test('a quote that is not in the document does not count', () => {
    const [first] = predictions
    const invented = { id: 'a', docId: 'd1', answer: first?.answer ?? '', quote: 'The lighthouse was built by Ida Marsh alone.' }
    expect(scoreAnswers(questions, [invented], documents)).toMatchObject({
      inQuote: 0,
      exactMatch: 1 / 3,
      quoteVerbatim: 0,
      citeCorrect: 1,
    })
  })

  test('a quote of more than 40 words counts only in the measure without a limit', () => {
    const text = `Ida Marsh ${'built '.repeat(40)}it.`
    const long = { id: 'a', answer: text, quote: text, docId: 'd3' }
    expect(scoreAnswers(questions.slice(0, 1), [long], new Map([['d3', text]]))).toMatchObject({
      inQuote: 0,
      inQuoteAnyLength: 1,
    })
  })

  test('without a quote the answer serves as the quote', () => {
    const bare = { id: 'a', answer: 'Ida Marsh', quote: '', docId: 'd1' }
    expect(scoreAnswers(questions.slice(0, 1), [bare], documents)).toMatchObject({ inQuote: 1, exactMatch: 1 })
  })

  test('an empty collection has scores of zero', () => {
    expect(scoreAnswers([], [], documents)).toMatchObject({ questions: 0, inQuote: 0, f1: 0, abstainedUnanswerable: null })
  })
})
