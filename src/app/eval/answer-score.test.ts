import { describe, expect, test } from 'vitest'
import { f1, holds, normalized, scoreAnswers } from './answer-score.ts'
import type { GoldQuestion, Prediction } from './answer-score.ts'

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
  test.each([
    ['the red fox', 'Red Fox', 1],
    ['red', 'red fox', 2 / 3],
    ['red red', 'red', 2 / 3],
    ['owl', 'fox', 0],
    ['', 'fox', 0],
    ['the', 'an', 1],
  ])('%j against %j is %d', (said, gold, expected) => {
    expect(f1(said, gold)).toBeCloseTo(expected, 10)
  })
})

test.each([
  ['It was built in 1874.', '1874', true],
  ['It was built in 18745.', '1874', false],
  ['They met Ida Marsh there', 'ida marsh', true],
  ['They met Ida and Marsh', 'Ida Marsh', false],
  ['anything', 'the', false],
])('%j holds %j: %s', (text, gold, expected) => {
  expect(holds(text, gold)).toBe(expected)
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
