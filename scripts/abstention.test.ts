import { expect, test } from 'vitest'
import { curveOf } from './abstention.ts'
import type { Tried } from './abstention.ts'

const tried: Tried[] = [
  { confidence: 0.9, margin: 0.4, isAnswerable: true, isRight: true },
  { confidence: 0.7, margin: 0.2, isAnswerable: true, isRight: false },
  { confidence: 0.6, margin: 0.1, isAnswerable: false, isRight: false },
  { confidence: 0.2, margin: -0.3, isAnswerable: false, isRight: false },
]

test.each([
  [-1, 1, 3 / 4, 0, 0],
  [0, 3 / 4, 2 / 3, 0, 1 / 2],
  [0.15, 1 / 2, 1 / 2, 0, 1],
  [0.3, 1 / 4, 0, 1 / 2, 1],
  [1, 0, 0, 1, 1],
])('with a caution of %d', (caution, answered, wrong, refusedAnswerable, refusedUnanswerable) => {
  expect(curveOf(tried, [caution])).toEqual([{ caution, answered, wrong, refusedAnswerable, refusedUnanswerable }])
})
