import { expect, test } from 'vitest'
import { FEATURES, scoreWindows } from './features.ts'
import { readQuestion } from './question.ts'
import { rank, worthOf } from './rank.ts'
import type { Ranked } from './rank.ts'
import { readPassages } from './reading.ts'
import { select } from './select.ts'

function rankedOf(question: string, ...texts: string[]): Ranked[] {
  const read = readQuestion(question)
  const passages = texts.map((text, index) => ({ marker: String(index + 1), text, score: 10 - index }))
  return rank(scoreWindows(read, readPassages(read, passages, 12), 12))
}

const quotesOf = (ranked: readonly Ranked[]): string[] =>
  select(ranked).map(({ reading, window }) => reading.passage.text.slice(window.start, window.end))

test('the windows come best first, by the sum of their weighted features', () => {
  const ranked = rankedOf('Who painted the mill?', 'The mill is old. Ida painted the mill.', 'Rye is a grain.')
  expect(ranked.map(({ worth }) => worth)).toEqual(ranked.map(({ worth }) => worth).toSorted((a, b) => b - a))
  expect(quotesOf(ranked)[0]).toContain('Ida painted the mill.')
})

test('every feature lies between 0 and 1', () => {
  for (const { features, worth } of rankedOf(
    'Who painted the 2 old mills of Ghent in 1874?',
    'Ida painted both mills of Ghent. It rained.',
    '',
    'Mills, mills; mills!',
  )) {
    for (const feature of FEATURES) {
      expect(features[feature]).toBeGreaterThanOrEqual(0)
      expect(features[feature]).toBeLessThanOrEqual(1)
    }
    expect(worth).toBe(worthOf(features))
  }
})

test('neither what overlaps nor what repeats is quoted again, and not more than three in all', () => {
  const same = 'Ida Marsh painted the old mill of Ghent in the year 1874.'
  expect(quotesOf(rankedOf('Who painted the mill of Ghent?', same, same, `${same} `))).toEqual([same])
  const many = [
    'Ida painted the mill of Ghent.',
    'The mill of Ghent: Oak painted doors there.',
    'Ghent and its mill, painted by Tom.',
    'Nobody else painted mill or tower of Ghent today.',
    'The mill of Ghent was painted thrice by children.',
  ]
  expect(quotesOf(rankedOf('Who painted the mill of Ghent?', ...many)).length).toBeLessThanOrEqual(3)
})

test('what says much less of the question does not support the answer', () => {
  expect(
    quotesOf(rankedOf('Who painted the mill of Ghent?', 'Ida painted the mill of Ghent.\n\nRye grows well on heavy soil.')),
  ).toEqual(['Ida painted the mill of Ghent.'])
})

test('a number alone supports nothing that is said in words', () => {
  const table = '| Part | Painted |\n|---|---|\n| mill of Ghent | .998 |\n'
  const ranked = rankedOf('Who painted the mill of Ghent?', 'Ida painted the mill of Ghent.', table)
  const [best] = ranked
  const close = ranked.map((one) => ({ ...one, worth: best?.worth ?? 0, features: best?.features ?? one.features }))
  expect(quotesOf(close)).toEqual(['Ida painted the mill of Ghent.'])
  expect(quotesOf(close.toReversed())).toContain('.998')
})

test('nothing is selected from nothing', () => {
  expect(select([])).toEqual([])
})
